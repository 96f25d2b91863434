.PHONY: handover

# A real kubelet beside kqos in small machines: CONTRIBUTING.md.
handover:
	go test -tags e2e,handover -count=1 -timeout 4h -v ./test/handover/
