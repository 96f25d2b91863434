# What --create-reserved makes outlives a boot. A kubelet.service writes down which
# controllers it finds when it starts; rebooted.sh looks at that.
config=/etc/kqos-reserved.yaml
cat kubelet.yaml - >$config <<EOT
enforceNodeAllocatable: [pods, kube-reserved]
kubeReservedCgroup: /kubelet.slice
EOT
. ./lib.sh
kqos 0 apply pods --create-reserved
holds /kubelet.slice memory.max 104857600 memory/memory.limit_in_bytes 104857600
cat >/usr/local/sbin/kubelet-start <<EOT
#!/bin/sh
{
	for c in cpu cpuset memory pids hugetlb; do
		if [ $version = 2 ]; then grep -ow \$c $mount/kubelet.slice/cgroup.controllers; else [ -d $mount/\$c/kubelet.slice ] && echo \$c; fi
	done
} >/var/lib/kubelet-start 2>&1
exit 0
EOT
chmod +x /usr/local/sbin/kubelet-start
cat >/etc/systemd/system/kubelet.service <<EOT
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/local/sbin/kubelet-start
[Install]
WantedBy=multi-user.target
EOT
systemctl enable -q kubelet.service
