package kubernetestest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	"winnow/cluster"
)

// extract is a command as winnow reads it, with words that a shell, YAML and Kubernetes could take for something else.
func extract(out string) cluster.Command {
	words := []string{"extract", "--manifest", "birds: a.csv", "--root", "$(HOME) 'x'", "--batch", "32", "--model",
		"no", "--out", out}
	return cluster.Command{Name: "extract", Words: words, At: 1,
		Flags: map[string]string{"out": out, "manifest": "birds: a.csv"}, Known: []string{"out", "shard"}}
}

// written returns the two Jobs that are printed, read strictly: a field that Kubernetes does not know is an error.
func written(o cluster.Options, out string) (tasks, join batch.Job, err error) {
	text, err := cluster.WriteKubernetes([]cluster.Command{extract(out)}, o)
	if err != nil {
		return tasks, join, err
	}
	return read(text)
}

func read(text string) (tasks, join batch.Job, err error) {
	documents := strings.Split(text, "\n---\n")
	if len(documents) != 3 {
		return tasks, join, fmt.Errorf("found %d documents, expected a comment and two Jobs", len(documents))
	}
	for i, job := range []*batch.Job{&tasks, &join} {
		if err := yaml.UnmarshalStrict([]byte(documents[i+1]), job); err != nil {
			return tasks, join, err
		}
	}
	return tasks, join, faults(tasks, join)
}

// faults are what an API server refuses beyond the types (k8s.io/kubernetes/pkg/apis/batch/validation, which is no
// library).
func faults(jobs ...batch.Job) error {
	for _, j := range jobs {
		pod := j.Spec.Template.Spec
		if j.APIVersion != "batch/v1" || j.Kind != "Job" {
			return fmt.Errorf("found a %s of %s", j.Kind, j.APIVersion)
		}
		if why := validation.IsDNS1123Label(j.Name + "-100000"); len(why) > 0 { // the pods' names of hosts
			return fmt.Errorf("name %q: %s", j.Name, why)
		}
		for _, value := range j.Labels {
			if why := validation.IsValidLabelValue(value); len(why) > 0 {
				return fmt.Errorf("label %q: %s", value, why)
			}
		}
		indexed := j.Spec.CompletionMode != nil && *j.Spec.CompletionMode == batch.IndexedCompletion
		switch {
		case pod.RestartPolicy != core.RestartPolicyNever:
			return fmt.Errorf("restartPolicy %s: a podFailurePolicy and backoffLimitPerIndex want Never",
				pod.RestartPolicy)
		case (j.Spec.BackoffLimitPerIndex != nil || j.Spec.MaxFailedIndexes != nil) && !indexed:
			return fmt.Errorf("indexes without completionMode Indexed")
		case indexed && (j.Spec.Completions == nil || j.Spec.Parallelism == nil || *j.Spec.Completions < 1 ||
			*j.Spec.Parallelism > *j.Spec.Completions):
			return fmt.Errorf("completions %v, parallelism %v", j.Spec.Completions, j.Spec.Parallelism)
		case j.Spec.MaxFailedIndexes != nil &&
			(*j.Spec.MaxFailedIndexes > *j.Spec.Completions || *j.Spec.MaxFailedIndexes > 10_000 &&
				*j.Spec.Completions > 100_000):
			return fmt.Errorf("maxFailedIndexes %d of %d", *j.Spec.MaxFailedIndexes, *j.Spec.Completions)
		}
		var names []string
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			names = append(names, c.Name)
			for name, request := range c.Resources.Requests {
				if limit, ok := c.Resources.Limits[name]; ok && limit.Cmp(request) < 0 {
					return fmt.Errorf("%s: a limit of %s below what is requested", name, limit.String())
				}
			}
			for _, m := range c.VolumeMounts {
				if !slices.ContainsFunc(pod.Volumes, func(v core.Volume) bool { return v.Name == m.Name }) {
					return fmt.Errorf("there is no volume %s", m.Name)
				}
			}
		}
		if j.Spec.PodFailurePolicy == nil {
			continue
		}
		for _, r := range j.Spec.PodFailurePolicy.Rules {
			switch {
			case (r.OnExitCodes == nil) == (len(r.OnPodConditions) == 0):
				return fmt.Errorf("a rule wants exit codes or conditions")
			case r.Action == batch.PodFailurePolicyActionFailIndex && j.Spec.BackoffLimitPerIndex == nil:
				return fmt.Errorf("FailIndex wants backoffLimitPerIndex")
			case r.OnExitCodes != nil &&
				(r.OnExitCodes.ContainerName == nil || !slices.Contains(names, *r.OnExitCodes.ContainerName) ||
					len(r.OnExitCodes.Values) == 0):
				return fmt.Errorf("exit codes of no container")
			}
		}
	}
	return nil
}

func TestKubernetes(t *testing.T) {
	o := cluster.Options{Tasks: 64, AtOnce: 16, CPUs: 4, GPUs: 1, Memory: 3_000_000_000, Retries: 2,
		Kubernetes: cluster.Kubernetes{Image: "registry.example/winnow:1", Claim: "birds", Mount: "/data",
			Secret: "bucket"}}
	tasks, join, err := written(o, "Birds & more.features")
	if err != nil {
		t.Fatal(err)
	}
	c := tasks.Spec.Template.Spec.Containers[0]
	want := []string{"--device", "cuda", "extract", "--shard", "auto/64", "--manifest", "birds: a.csv", "--root",
		"$$(HOME) 'x'", "--batch", "32", "--model", "no", "--out", "Birds & more.features"}
	if !slices.Equal(c.Args, want) || len(c.Command) > 0 {
		t.Errorf("found %q, expected %q", c.Args, want)
	}
	if *tasks.Spec.Completions != 64 || *tasks.Spec.Parallelism != 16 || *tasks.Spec.BackoffLimitPerIndex != 2 ||
		*tasks.Spec.MaxFailedIndexes != 6 || tasks.Name != "winnow-birds-more-features" {
		t.Errorf("%+v", tasks)
	}
	rules := tasks.Spec.PodFailurePolicy.Rules
	if len(rules) != 2 || rules[0].Action != batch.PodFailurePolicyActionIgnore ||
		rules[0].OnPodConditions[0].Type != core.DisruptionTarget ||
		rules[1].Action != batch.PodFailurePolicyActionFailIndex ||
		!slices.Equal(rules[1].OnExitCodes.Values, []int32{2}) {
		t.Errorf("%+v", rules)
	}
	for name, want := range map[core.ResourceName]string{"cpu": "4", "memory": "2862Mi", "nvidia.com/gpu": "1"} {
		if got := c.Resources.Requests[name]; got.String() != want {
			t.Errorf("%s: found %s, expected %s", name, got.String(), want)
		}
	}
	if got := tasks.Spec.Template.Spec.Volumes[0].PersistentVolumeClaim; got == nil || got.ClaimName != "birds" ||
		c.WorkingDir != "/data" || c.EnvFrom[0].SecretRef.Name != "bucket" {
		t.Errorf("%+v, %+v", got, c)
	}
	pod := join.Spec.Template.Spec
	if len(pod.InitContainers) != 1 || !slices.Equal(pod.Containers[0].Args,
		[]string{"join", "Birds & more.features"}) ||
		!strings.Contains(pod.InitContainers[0].Command[2], "winnow cluster status") {
		t.Errorf("%+v", pod)
	}
}

// Without a claim everything is in a bucket: pods have a temporary folder of their own and no other volume. A flag that
// names a path on a volume is reported.
func TestBucketAlone(t *testing.T) {
	in := func(manifest, root, out string) cluster.Command {
		c := extract(out)
		c.Flags = map[string]string{"manifest": manifest, "root": root, "out": out, "model": "no"}
		return c
	}
	o := cluster.Options{Tasks: 64, Memory: 1 << 30, Kubernetes: cluster.Kubernetes{Image: "winnow", Mount: "/data"}}
	text, err := cluster.WriteKubernetes([]cluster.Command{in("s3://b/a.csv", "gs://b/photos", "s3://b/birds")}, o)
	if err != nil {
		t.Fatal(err)
	}
	tasks, join, err := read(text)
	if err != nil {
		t.Fatal(err)
	}
	if join.Spec.Template.Spec.Containers[0].Args[1] != "s3://b/birds" || tasks.Name != "winnow-birds" {
		t.Errorf("%+v", join.Spec.Template.Spec.Containers[0])
	}
	for _, pod := range []core.PodSpec{tasks.Spec.Template.Spec, join.Spec.Template.Spec} {
		if len(pod.Volumes) != 1 || pod.Volumes[0].EmptyDir == nil || pod.Volumes[0].PersistentVolumeClaim != nil {
			t.Errorf("%+v", pod.Volumes)
		}
		for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
			if len(c.VolumeMounts) != 1 || len(c.Env) != 1 || c.Env[0].Name != "TMPDIR" ||
				c.Env[0].Value != c.VolumeMounts[0].MountPath || c.WorkingDir != c.Env[0].Value {
				t.Errorf("%s: %+v", c.Name, c)
			}
		}
	}
	o.Kubernetes.Claim = "birds" // images on a volume, parts in a bucket: both
	if text, err = cluster.WriteKubernetes([]cluster.Command{in("a.csv", "", "s3://b/birds")}, o); err != nil {
		t.Fatal(err)
	}
	if tasks, _, err = read(text); err != nil || len(tasks.Spec.Template.Spec.Volumes) != 2 ||
		tasks.Spec.Template.Spec.Containers[0].WorkingDir != "/data" {
		t.Errorf("%v, %+v", err, tasks.Spec.Template.Spec)
	}
	o.Kubernetes.Claim = ""
	for want, c := range map[string]cluster.Command{
		"--claim missing: --manifest a.csv lies on a volume": in("a.csv", "s3://b/photos", "s3://b/birds"),
		"--claim missing: --root photos lies on a volume":    in("s3://b/a.csv", "photos", "s3://b/birds"),
		"--claim missing: --out birds lies on a volume":      in("s3://b/a.csv", "", "birds"),
	} {
		if _, err := cluster.WriteKubernetes([]cluster.Command{c}, o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v, expected %q", err, want)
		}
	}
	embed := in("s3://b/a.csv", "", "s3://b/birds.npy")
	embed.Name = "embed"
	for _, write := range []func([]cluster.Command, cluster.Options) (string, error){cluster.WriteKubernetes,
		func(list []cluster.Command, o cluster.Options) (string, error) {
			return cluster.WriteSlurm(cluster.Host{Dir: "/"}, list, o)
		}} {
		if _, err := write([]cluster.Command{embed}, o); err == nil ||
			!strings.Contains(err.Error(), "extract alone writes its parts into object stores") {
			t.Error(err)
		}
	}
	if _, err := cluster.WriteSlurm(cluster.Host{Dir: "/"}, []cluster.Command{in("s3://b/a.csv", "", "s3://b/birds")},
		cluster.Options{Tasks: 2}); err == nil ||
		!strings.Contains(err.Error(), "expected a path in a folder that all nodes see") {
		t.Error(err)
	}
}

// The checks fail on copies broken on purpose, as an API server would.
func TestFaultsAreSeen(t *testing.T) {
	text, err := cluster.WriteKubernetes([]cluster.Command{extract("features")},
		cluster.Options{Tasks: 64, Memory: 1 << 30,
			Kubernetes: cluster.Kubernetes{Image: "winnow", Claim: "birds", Mount: "/data"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := read(text); err != nil {
		t.Fatal(err)
	}
	for old, broken := range map[string]string{
		"backoffLimitPerIndex: 0":     "backoffLimitPerIndexes: 0",
		"completionMode: Indexed":     "completionMode: NonIndexed",
		"restartPolicy: Never":        "restartPolicy: OnFailure",
		"memory: 1024Mi":              "memory: 1 GiB",
		`claimName: "birds"`:          `claim: "birds"`,
		"containerName: winnow":       "containerName: none",
		"completions: 64":             "completions: many",
		"maxFailedIndexes: 6":         "maxFailedIndexes: 65",
		"name: winnow-features\n":     "name: Winnow features\n",
		"apiVersion: batch/v1":        "apiVersion: batch/v2",
		"- name: data\n          mou": "- name: date\n          mou",
		"      - type: DisruptionTar": "      - kind: DisruptionTar",
	} {
		spoiled := strings.Replace(text, old, broken, 1)
		if spoiled == text {
			t.Errorf("%q is not printed", old)
		} else if _, _, err := read(spoiled); err == nil {
			t.Errorf("%q passes for %q", broken, old)
		}
	}
}
