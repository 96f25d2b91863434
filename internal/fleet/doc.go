// Package fleet reads what kubectl lists of a cluster, nodes and pods, as a
// stream, and holds each node against its own configuration and against its
// peers. It is pure: files beside the stream come through functions.
//
//	cluster := fleet.New(fleet.Options{})
//	err := cluster.Read(ctx, os.Stdin)
//	for _, f := range cluster.Report(ctx).Findings {
//		fmt.Println(f.Node, f.ID, f.Message)
//	}
package fleet
