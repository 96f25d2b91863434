.PHONY: handover release

# A real kubelet beside kqos in small machines: CONTRIBUTING.md.
handover:
	go test -tags e2e,handover -count=1 -timeout 4h -v ./test/handover/

# What users install, of the commit that is checked out, in dist/: docs/install.md.
release:
	rm -rf dist
	cd release && go run . -root .. -out ../dist
