//go:build handover

package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// watch writes a line for each change of the files, until it is ended: kernel
// files don't tell who reads them, so it looks again and again.
func watch(log string, files []string) error {
	out, err := os.Create(log)
	if err != nil {
		return err
	}
	defer out.Close()
	last := map[string]string{}
	for {
		for _, file := range files {
			now := content(file)
			if before, seen := last[file]; seen && before != now {
				if _, err := fmt.Fprintf(out, "%s\t%s\t%s\n", file, before, now); err != nil {
					return err
				}
			}
			last[file] = now
		}
		time.Sleep(200 * time.Millisecond)
	}
}

func content(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return "(gone)"
	}
	return strings.TrimSpace(string(text))
}
