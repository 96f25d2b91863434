//go:build e2e

package vm

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// kernel takes the ELF kernel out of Debian's cloud kernel package. That kernel
// has NVMe, ext4 and devtmpfs built in, so no initramfs is needed; QEMU boots
// the uncompressed ELF through its PVH entry.
func kernel(ctx context.Context, dir, to string) error {
	out, err := exec.CommandContext(ctx, "apt-cache", "depends", "linux-image-cloud-amd64").Output()
	if err != nil {
		return fmt.Errorf("asking for the cloud kernel's package: %w", err)
	}
	_, rest, ok := strings.Cut(string(out), "Depends: linux-image")
	name, _, _ := strings.Cut("linux-image"+rest, "\n")
	if !ok {
		return fmt.Errorf("linux-image-cloud-amd64 depends on no kernel: %s", out)
	}
	if err := command(ctx, dir, "apt-get", "download", "-q", name); err != nil {
		return err
	}
	packages, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(packages) == 0 {
		return fmt.Errorf("package of %s not found: %w", name, err)
	}
	unpacked := filepath.Join(dir, "kernel")
	defer os.RemoveAll(unpacked)
	if err := command(ctx, dir, "dpkg-deb", "-x", packages[0], unpacked); err != nil {
		return err
	}
	images, err := filepath.Glob(filepath.Join(unpacked, "boot/vmlinuz-*"))
	if err != nil || len(images) == 0 {
		return fmt.Errorf("no kernel in %s: %w", packages[0], err)
	}
	image, err := os.ReadFile(images[0])
	if err != nil {
		return err
	}
	elf, err := unpackKernel(ctx, image)
	if err != nil {
		return err
	}
	return os.WriteFile(to, elf, 0o644)
}

// unpackKernel finds the compressed payload of a bzImage by its setup header
// (Documentation/arch/x86/boot.rst: setup_sects, payload_offset, payload_length).
func unpackKernel(ctx context.Context, image []byte) ([]byte, error) {
	if len(image) < 0x250 {
		return nil, errors.New("the kernel image is too short")
	}
	setup := (max(int(image[0x1f1]), 4) + 1) * 512
	at := setup + int(binary.LittleEndian.Uint32(image[0x248:]))
	end := at + int(binary.LittleEndian.Uint32(image[0x24c:]))
	if end > len(image) || at+4 > end {
		return nil, errors.New("the kernel image's payload lies outside it")
	}
	payload := image[at:end]
	for magic, tool := range map[string]string{"\x02\x21\x4c\x18": "lz4", "\x28\xb5\x2f\xfd": "zstd", "\xfd7zX": "xz"} {
		if !strings.HasPrefix(string(payload), magic) {
			continue
		}
		// The payload ends with its unpacked size, which the tools complain of
		// after they have written everything.
		cmd := exec.CommandContext(ctx, tool, "-dc")
		cmd.Stdin = bytes.NewReader(payload)
		elf, _ := cmd.Output()
		if !strings.HasPrefix(string(elf), "\x7fELF") {
			return nil, fmt.Errorf("%s made no ELF kernel of the payload", tool)
		}
		return elf, nil
	}
	return nil, fmt.Errorf("unknown compression of the kernel, magic %x", payload[:4])
}
