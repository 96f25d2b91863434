package main

import (
	"bytes"
	"os"
	"runtime/debug"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// bill writes the bill of materials of a binary in CycloneDX's JSON: the modules
// that Go recorded in it. It bears no time and no serial number, so that the same
// binary has the same bill.
func (r *release) bill(b binary) error {
	program, err := os.ReadFile(b.path)
	if err != nil {
		return err
	}
	main := component(cdx.ComponentTypeApplication, debug.Module{Path: b.info.Main.Path, Version: "v" + r.version})
	main.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA256, Value: sum(program)}}
	main.Licenses = &cdx.Licenses{{License: &cdx.License{ID: "Apache-2.0"}}}
	// The standard library has a package URL like any other module.
	parts := []cdx.Component{component(cdx.ComponentTypeLibrary, debug.Module{Path: "std", Version: b.info.GoVersion})}
	for _, module := range b.info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		parts = append(parts, component(cdx.ComponentTypeLibrary, *module))
	}
	list := cdx.NewBOM()
	list.Metadata, list.Components = &cdx.Metadata{Component: &main}, &parts
	var data bytes.Buffer
	if err := cdx.NewBOMEncoder(&data, cdx.BOMFileFormatJSON).SetPretty(true).Encode(list); err != nil {
		return err
	}
	return r.create(r.name(b)+".cdx.json", data.Bytes())
}

func component(kind cdx.ComponentType, module debug.Module) cdx.Component {
	url := "pkg:golang/" + module.Path + "@" + module.Version
	part := cdx.Component{Type: kind, Name: module.Path, Version: module.Version, BOMRef: url, PackageURL: url}
	if module.Sum != "" {
		// It is of the module's files, and no digest of one file.
		part.Properties = &[]cdx.Property{{Name: "go:sum", Value: module.Sum}}
	}
	return part
}
