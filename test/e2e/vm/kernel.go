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

// downloadKernel is a hook of mmdebstrap that unpacks the kernel of the guest's
// own suite, whatever the host runs, below /kernel of the tree.
const downloadKernel = `set -e
export APT_CONFIG="$MMDEBSTRAP_APT_CONFIG"
name=$(apt-cache depends linux-image-cloud-amd64 | sed -n 's/.*Depends: \(linux-image-[^ ]*\)$/\1/p')
mkdir "$1/kernel"
cd "$1/kernel"
apt-get download -q "$name"
dpkg-deb -x "$name"_*.deb .
`

// kernel moves the ELF kernel out of Debian's cloud kernel package. That kernel
// has NVMe, ext4 and devtmpfs built in, so no initramfs is needed; QEMU boots
// the uncompressed ELF through its PVH entry.
func kernel(ctx context.Context, tree, to string) error {
	unpacked := filepath.Join(tree, "kernel")
	images, err := filepath.Glob(filepath.Join(unpacked, "boot/vmlinuz-*"))
	if err != nil || len(images) == 0 {
		return fmt.Errorf("no kernel in the package of %s's linux-image-cloud-amd64: %w", suite, err)
	}
	image, err := os.ReadFile(images[0])
	if err != nil {
		return err
	}
	elf, err := unpackKernel(ctx, image)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(unpacked); err != nil {
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
	for magic, tool := range map[string]string{"\x02\x21\x4c\x18": "lz4", "\x28\xb5\x2f\xfd": "zstd"} {
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
