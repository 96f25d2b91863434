package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/krew/pkg/constants"
	"sigs.k8s.io/krew/pkg/index"
	"sigs.k8s.io/yaml"
)

// plugin writes the manifest by which krew installs the archives as "kubectl kqos".
func (r *release) plugin(archives []packed) error {
	p := index.Plugin{
		TypeMeta:   metav1.TypeMeta{APIVersion: constants.CurrentAPIVersion, Kind: constants.PluginKind},
		ObjectMeta: metav1.ObjectMeta{Name: "kqos"},
		Spec: index.PluginSpec{
			Version: "v" + r.version, Homepage: homepage, ShortDescription: summary, Description: description + "\n",
		},
	}
	for _, a := range archives {
		p.Spec.Platforms = append(p.Spec.Platforms, index.Platform{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"os": a.binary.os, "arch": a.binary.arch}},
			URI:      homepage + "/releases/download/v" + r.version + "/" + a.name,
			Sha256:   a.sum,
			Bin:      "kqos",
			Files:    []index.FileOperation{{From: "kqos", To: "."}, {From: "LICENSE", To: "."}},
		})
	}
	data, err := yaml.Marshal(p)
	if err != nil {
		return err
	}
	return r.create("kqos.krew.yaml", data)
}
