package admission

import corev1 "k8s.io/api/core/v1"

// reference names the kind of object of the API that the pod needs, in the
// kubelet's words, or "". There is nobody to ask for it on behalf of a static
// pod.
//
// kubelet v1.37: pkg/api/pod/util.go HasAPIObjectReference.
func reference(spec *corev1.PodSpec) string {
	secrets, configMaps := false, false
	for _, s := range spec.ImagePullSecrets {
		secrets = secrets || s.Name != ""
	}
	for _, list := range [][]corev1.Container{spec.InitContainers, spec.Containers} {
		for i := range list {
			s, c := environment(&list[i])
			secrets, configMaps = secrets || s, configMaps || c
		}
	}
	for i := range spec.Volumes {
		s, c := volumeNames(&spec.Volumes[i].VolumeSource)
		secrets, configMaps = secrets || s, configMaps || c
	}
	switch {
	case spec.ServiceAccountName != "" || spec.DeprecatedServiceAccount != "":
		return "serviceaccounts"
	case secrets:
		return "secrets"
	case configMaps:
		return "configmaps"
	case len(spec.ResourceClaims) > 0:
		return "resourceclaims"
	}
	for i := range spec.Volumes {
		if object := volumeReference(&spec.Volumes[i].VolumeSource); object != "" {
			return object
		}
	}
	return ""
}

// environment tells whether variables of the container come from secrets or
// config maps.
func environment(c *corev1.Container) (secrets, configMaps bool) {
	for _, e := range c.EnvFrom {
		secrets = secrets || e.SecretRef != nil && e.SecretRef.Name != ""
		configMaps = configMaps || e.ConfigMapRef != nil && e.ConfigMapRef.Name != ""
	}
	for _, e := range c.Env {
		if from := e.ValueFrom; from != nil {
			secrets = secrets || from.SecretKeyRef != nil && from.SecretKeyRef.Name != ""
			configMaps = configMaps || from.ConfigMapKeyRef != nil && from.ConfigMapKeyRef.Name != ""
		}
	}
	return secrets, configMaps
}

// volumeNames tells whether a volume names secrets or config maps.
func volumeNames(v *corev1.VolumeSource) (secrets, configMaps bool) {
	local := func(r *corev1.LocalObjectReference) bool { return r != nil && r.Name != "" }
	switch {
	case v.AzureFile != nil:
		return v.AzureFile.SecretName != "", false
	case v.CephFS != nil:
		return local(v.CephFS.SecretRef), false
	case v.Cinder != nil:
		return local(v.Cinder.SecretRef), false
	case v.FlexVolume != nil:
		return local(v.FlexVolume.SecretRef), false
	case v.RBD != nil:
		return local(v.RBD.SecretRef), false
	case v.Secret != nil:
		return v.Secret.SecretName != "", false
	case v.ScaleIO != nil:
		return local(v.ScaleIO.SecretRef), false
	case v.ISCSI != nil:
		return local(v.ISCSI.SecretRef), false
	case v.StorageOS != nil:
		return local(v.StorageOS.SecretRef), false
	case v.CSI != nil:
		return local(v.CSI.NodePublishSecretRef), false
	case v.ConfigMap != nil:
		return false, v.ConfigMap.Name != ""
	case v.Projected == nil:
		return false, false
	}
	for _, s := range v.Projected.Sources {
		secrets = secrets || s.Secret != nil && s.Secret.Name != ""
		configMaps = configMaps || s.ConfigMap != nil && s.ConfigMap.Name != ""
	}
	return secrets, configMaps
}

// volumeReference names what a volume needs the API for.
func volumeReference(v *corev1.VolumeSource) string {
	switch {
	case v.ConfigMap != nil:
		return "configmaps (via configmap volumes)"
	case v.Secret != nil:
		return "secrets (via secret volumes)"
	case v.CSI != nil:
		return "csidrivers (via CSI volumes)"
	case v.Glusterfs != nil:
		return "endpoints (via glusterFS volumes)"
	case v.PersistentVolumeClaim != nil:
		return "persistentvolumeclaims"
	case v.Ephemeral != nil:
		return "persistentvolumeclaims (via ephemeral volumes)"
	case v.AzureFile != nil:
		return "secrets (via azureFile volumes)"
	case v.Projected == nil:
		return ""
	}
	for _, s := range v.Projected.Sources {
		switch {
		case s.ConfigMap != nil:
			return "configmaps (via projected volumes)"
		case s.Secret != nil:
			return "secrets (via projected volumes)"
		case s.ServiceAccountToken != nil:
			return "serviceaccounts (via projected volumes)"
		case s.ClusterTrustBundle != nil:
			return "clustertrustbundles"
		case s.PodCertificate != nil:
			return "podcertificates"
		}
	}
	return ""
}
