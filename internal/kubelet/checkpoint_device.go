package kubelet

import (
	"encoding/json"
	"fmt"
)

// DeviceManagerState is the content of kubelet_internal_checkpoint. The kubelet
// leaves the order of its lists to chance.
type DeviceManagerState struct {
	// Entries are the devices of containers, one for each resource.
	Entries []PodDevices
	// Registered are the healthy device ids by resource.
	Registered map[string][]string
}

// PodDevices are the devices of one resource that a container has.
type PodDevices struct {
	PodUID        string
	ContainerName string
	ResourceName  string
	DeviceIDs     DevicesPerNUMA
	// AllocResp is the plugin's answer to Allocate in protobuf.
	AllocResp []byte
}

// DevicesPerNUMA are device ids by NUMA node, -1 for a device without one. A
// device on several nodes stands under each.
type DevicesPerNUMA map[int64][]string

// deviceData has the members, and their order, of the kubelet's struct: they
// are hashed.
type deviceData struct {
	PodDeviceEntries  []PodDevices
	RegisteredDevices map[string][]string
}

type deviceFile struct {
	Data     deviceData
	Checksum checksum
}

// ReadDeviceManagerState reads a kubelet_internal_checkpoint and verifies its
// checksum. The kubelet only logs the error and starts empty.
//
// kubelet v1.37: cm/devicemanager/checkpoint/checkpoint.go.
func ReadDeviceManagerState(blob []byte) (*DeviceManagerState, error) {
	var file deviceFile
	if err := json.Unmarshal(blob, &file); err != nil {
		return nil, err
	}
	if sum(file.Data, "") != file.Checksum {
		return nil, errCheckpointCorrupt
	}
	return &DeviceManagerState{file.Data.PodDeviceEntries, file.Data.RegisteredDevices}, nil
}

// Marshal writes the file as the kubelet does, lists in the order given.
func (s *DeviceManagerState) Marshal() ([]byte, error) {
	file := deviceFile{Data: deviceData{s.Entries, s.Registered}}
	file.Checksum = sum(file.Data, "")
	blob, err := json.Marshal(file)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", DeviceManagerStateFile, err)
	}
	return blob, nil
}
