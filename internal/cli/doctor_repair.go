package cli

import (
	"fmt"

	"github.com/kqos/kqos/internal/inspect/doctor"
)

// mend writes what Repairs has for the checkpoint files and tells it on stderr.
func (o *doctorOptions) mend(a *app, facts *doctor.Facts) error {
	repairs, err := doctor.Repairs(facts)
	if err != nil {
		return err
	}
	if len(repairs) == 0 {
		a.logger().Warn("--repair: no checkpoint file needs it")
	}
	a.hold()
	for _, r := range repairs {
		backup, err := r.Write()
		if err != nil {
			return err
		}
		a.logger().Warn(fmt.Sprintf("%s: %s; the old file is %s", r.File, r.What, backup))
	}
	return nil
}
