package placement

import (
	"context"
	"slices"
	"strings"

	"google.golang.org/grpc"
	pluginapi "k8s.io/kubelet/pkg/apis/deviceplugin/v1beta1"

	"github.com/kqos/kqos/internal/machine"
)

// plugin is a device plugin without a socket.
type plugin struct {
	pluginapi.DevicePluginClient
	resource  string
	preferred bool
}

func (p *plugin) API() pluginapi.DevicePluginClient { return p }
func (p *plugin) Resource() string                  { return p.resource }
func (p *plugin) SocketPath() string                { return "/" + p.resource }

func (p *plugin) GetDevicePluginOptions(context.Context, *pluginapi.Empty, ...grpc.CallOption) (*pluginapi.DevicePluginOptions, error) {
	return &pluginapi.DevicePluginOptions{GetPreferredAllocationAvailable: p.preferred}, nil
}

// GetPreferredAllocation answers the devices that must be included, then the
// smallest ids, as the golden scenarios' plugins do.
func (p *plugin) GetPreferredAllocation(_ context.Context, in *pluginapi.PreferredAllocationRequest, _ ...grpc.CallOption) (*pluginapi.PreferredAllocationResponse, error) {
	out := &pluginapi.PreferredAllocationResponse{}
	for _, r := range in.ContainerRequests {
		ids := slices.Clone(r.MustIncludeDeviceIDs)
		rest := slices.Clone(r.AvailableDeviceIDs)
		slices.SortFunc(rest, func(a, b string) int {
			if len(a) != len(b) {
				return len(a) - len(b)
			}
			return strings.Compare(a, b)
		})
		for _, id := range rest {
			if len(ids) < int(r.AllocationSize) && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
		out.ContainerResponses = append(out.ContainerResponses, &pluginapi.ContainerPreferredAllocationResponse{DeviceIDs: ids})
	}
	return out, nil
}

func (p *plugin) Allocate(_ context.Context, in *pluginapi.AllocateRequest, _ ...grpc.CallOption) (*pluginapi.AllocateResponse, error) {
	out := &pluginapi.AllocateResponse{}
	for range in.ContainerRequests {
		out.ContainerResponses = append(out.ContainerResponses, &pluginapi.ContainerAllocateResponse{})
	}
	return out, nil
}

// devicesOf lists the machine's devices of a resource as its plugin reports them.
func devicesOf(m *machine.Machine, resource string) *pluginapi.ListAndWatchResponse {
	out := &pluginapi.ListAndWatchResponse{}
	for _, d := range m.Devices {
		if d.Resource != resource {
			continue
		}
		device := &pluginapi.Device{ID: d.ID, Health: pluginapi.Healthy}
		if !d.Healthy {
			device.Health = pluginapi.Unhealthy
		}
		if len(d.NUMA) > 0 {
			device.Topology = &pluginapi.TopologyInfo{}
		}
		for _, id := range d.NUMA {
			device.Topology.Nodes = append(device.Topology.Nodes, &pluginapi.NUMANode{ID: int64(id)})
		}
		out.Devices = append(out.Devices, device)
	}
	return out
}

func resources(m *machine.Machine) []string {
	var names []string
	for _, d := range m.Devices {
		if !slices.Contains(names, d.Resource) {
			names = append(names, d.Resource)
		}
	}
	return names
}
