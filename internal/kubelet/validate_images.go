package kubelet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/distribution/reference"
	kubeletv1beta1 "k8s.io/kubelet/config/v1beta1"
)

func (v *validator) imageGC() {
	high, low := int(*v.ImageGCHighThresholdPercent), int(*v.ImageGCLowThresholdPercent)
	v.within("imageGCHighThresholdPercent", "image-gc-high-threshold", high, 0, 100)
	v.within("imageGCLowThresholdPercent", "image-gc-low-threshold", low, 0, 100)
	if low >= high {
		v.invalid("imageGCLowThresholdPercent", "imageGCLowThresholdPercent (--image-gc-low-threshold) %v must be less than imageGCHighThresholdPercent (--image-gc-high-threshold) %v", low, high)
	}
}

func (v *validator) imageAges() {
	low, high := v.ImageMinimumGCAge.Duration, v.ImageMaximumGCAge.Duration
	if low < 0 && v.Gates.Since(36) {
		v.invalid("imageMinimumGCAge", "imageMinimumGCAge %v must not be negative", low)
	}
	if high < 0 {
		v.invalid("imageMaximumGCAge", "imageMaximumGCAge %v must not be negative", high)
	}
	if high > 0 && high <= low {
		v.invalid("imageMaximumGCAge", "imageMaximumGCAge %v must be greater than imageMinimumGCAge %v", high, low)
	}
}

func (v *validator) imagePulls() {
	parallel := v.MaxParallelImagePulls
	if parallel == nil {
		return
	}
	if *parallel < 1 {
		v.invalid("maxParallelImagePulls", "maxParallelImagePulls %v must be a positive number", *parallel)
	}
	if *v.SerializeImagePulls && *parallel > 1 {
		v.invalid("maxParallelImagePulls", "maxParallelImagePulls cannot be larger than 1 unless SerializeImagePulls (--serialize-image-pulls) is set to false")
	}
}

func (v *validator) imageCredentials() {
	const field, list = "imagePullCredentialsVerificationPolicy", "preloadedImagesVerificationAllowlist"
	policy, allowed := v.ImagePullCredentialsVerificationPolicy, v.PreloadedImagesVerificationAllowlist
	if !v.Gates.Enabled("KubeletEnsureSecretPulledImages") {
		if policy != "" {
			v.invalid(field, "`%s` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled", field)
		}
		if len(allowed) > 0 {
			v.invalid(list, "`%s` must not be set if KubeletEnsureSecretPulledImages feature gate is not enabled", list)
		}
		return
	}
	policies := []kubeletv1beta1.ImagePullCredentialsVerificationPolicy{
		kubeletv1beta1.NeverVerify, kubeletv1beta1.NeverVerifyPreloadedImages,
		kubeletv1beta1.NeverVerifyAllowlistedImages, kubeletv1beta1.AlwaysVerify,
	}
	if !slices.Contains(policies, policy) {
		v.invalid(field, "option %q specified for %s. Valid options are %q, %q, %q or %q", policy, field, policies[0], policies[1], policies[2], policies[3])
	}
	if len(allowed) > 0 && policy != kubeletv1beta1.NeverVerifyAllowlistedImages {
		v.invalid(list, "can't set `%s` if `imagePullCredentialsVertificationPolicy` is not \"NeverVerifyAllowlistedImages\"", list)
	} else if err := checkImagePatterns(allowed); err != nil {
		v.invalid(list, "invalid image pattern in `%s`: %v", list, err)
	}
}

// kubelet v1.37: pkg/kubelet/images/pullmanager ValidateAllowlistImagesPatterns.
func checkImagePatterns(patterns []string) error {
	for _, p := range patterns {
		if err := checkImagePattern(p); err != nil {
			return err
		}
	}
	return nil
}

func checkImagePattern(pattern string) error {
	image := strings.TrimSuffix(pattern, "*")
	wildcard := strings.HasSuffix(pattern, "/*")
	if !wildcard {
		image = pattern
	}
	switch {
	case pattern != strings.TrimSpace(pattern):
		return fmt.Errorf("leading/trailing spaces are not allowed: %s", pattern)
	case image == "":
		return fmt.Errorf("the supplied pattern is too short: %s", pattern)
	case strings.Contains(image, "*"):
		return fmt.Errorf("not a valid wildcard pattern, only patterns ending with '/*' are allowed: %s", pattern)
	case wildcard && image == "/":
		return errors.New("at least registry hostname is required")
	case wildcard:
		return nil
	}
	ref, err := reference.Parse(image)
	if err != nil {
		return fmt.Errorf("failed to parse as an image name: %w", err)
	}
	_, tagged := ref.(reference.Tagged)
	_, digested := ref.(reference.Digested)
	if tagged || digested {
		return fmt.Errorf("neither tag nor digest is accepted in an image reference: %s", pattern)
	}
	return nil
}
