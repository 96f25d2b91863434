# Huge pages of a pod become a limit of its cgroup, and of kubepods.
. ./lib.sh
pages=$(cat /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages)
[ "$pages" = 96 ] || fail "the machine has $pages huge pages"
mkdir $tmp/huge
sed 's/memory: 100Mi/memory: 100Mi, hugepages-2Mi: 8Mi/' pods/guaranteed.yaml >$tmp/huge/pod.yaml
kqos 0 apply $tmp/huge
holds $pod_a hugetlb.2MB.max 8388608 hugetlb/hugetlb.2MB.limit_in_bytes 8388608
kqos 0 diff $tmp/huge
kqos 0 apply $tmp/huge
systemctl daemon-reload
systemd-run --quiet --wait true
holds $pod_a hugetlb.2MB.max 8388608 hugetlb/hugetlb.2MB.limit_in_bytes 8388608
kqos 0 apply $tmp/huge --remove
gone $kubepods
