package cluster

import (
	"cmp"
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// Kubernetes are options of Kubernetes alone.
type Kubernetes struct {
	Name   string // of the Jobs; "": from the output
	Image  string
	Claim  string // persistent volume claim that holds manifest, images and output
	Mount  string // where pods see the claim; relative paths start there
	Secret string // whose keys become environment variables, such as credentials of a bucket
}

// The fields of Kubernetes' types that are printed. internal/testing/kubernetestest compares them with the full types.
type (
	manifest struct {
		APIVersion string `yaml:"apiVersion"`
		Kind       string `yaml:"kind"`
		Metadata   meta   `yaml:"metadata"`
		Spec       job    `yaml:"spec"`
	}
	meta struct {
		Name   string            `yaml:"name,omitempty"`
		Labels map[string]string `yaml:"labels"`
	}
	job struct {
		CompletionMode       string         `yaml:"completionMode,omitempty"`
		Completions          int            `yaml:"completions,omitempty"`
		Parallelism          int            `yaml:"parallelism,omitempty"`
		BackoffLimit         *int           `yaml:"backoffLimit,omitempty"`
		BackoffLimitPerIndex *int           `yaml:"backoffLimitPerIndex,omitempty"`
		MaxFailedIndexes     *int           `yaml:"maxFailedIndexes,omitempty"`
		PodFailurePolicy     *failurePolicy `yaml:"podFailurePolicy,omitempty"`
		Template             podTemplate    `yaml:"template"`
	}
	failurePolicy struct {
		Rules []failureRule `yaml:"rules"`
	}
	failureRule struct {
		Action          string      `yaml:"action"`
		OnPodConditions []condition `yaml:"onPodConditions,omitempty"`
		OnExitCodes     *exitCodes  `yaml:"onExitCodes,omitempty"`
	}
	condition struct {
		Type   string `yaml:"type"`
		Status string `yaml:"status"`
	}
	exitCodes struct {
		ContainerName string `yaml:"containerName"`
		Operator      string `yaml:"operator"`
		Values        []int  `yaml:"values"`
	}
	podTemplate struct {
		Metadata meta `yaml:"metadata"`
		Spec     pod  `yaml:"spec"`
	}
	pod struct {
		RestartPolicy  string      `yaml:"restartPolicy"`
		Grace          int         `yaml:"terminationGracePeriodSeconds"`
		InitContainers []container `yaml:"initContainers,omitempty"`
		Containers     []container `yaml:"containers"`
		Volumes        []volume    `yaml:"volumes,omitempty"`
	}
	container struct {
		Name         string     `yaml:"name"`
		Image        string     `yaml:"image"`
		Command      []string   `yaml:"command,omitempty"`
		Args         []string   `yaml:"args,omitempty"`
		WorkingDir   string     `yaml:"workingDir,omitempty"`
		Env          []variable `yaml:"env,omitempty"`
		EnvFrom      []envFrom  `yaml:"envFrom,omitempty"`
		Resources    resources  `yaml:"resources"`
		VolumeMounts []mount    `yaml:"volumeMounts,omitempty"`
	}
	envFrom struct {
		SecretRef named `yaml:"secretRef"`
	}
	named struct {
		Name string `yaml:"name"`
	}
	resources struct {
		Requests map[string]string `yaml:"requests,omitempty"`
		Limits   map[string]string `yaml:"limits,omitempty"`
	}
	mount struct {
		Name      string `yaml:"name"`
		MountPath string `yaml:"mountPath"`
	}
	volume struct {
		Name     string    `yaml:"name"`
		Claim    *claim    `yaml:"persistentVolumeClaim,omitempty"`
		EmptyDir *emptyDir `yaml:"emptyDir,omitempty"`
	}
	emptyDir struct{}
	variable struct {
		Name  string `yaml:"name"`
		Value string `yaml:"value"`
	}
	claim struct {
		ClaimName string `yaml:"claimName"`
	}
)

// scratch is where a pod mounts its own volume for temporary files.
const scratch = "/scratch"

// grace is the time in seconds that a pod has to save its work before it is killed.
const grace = 120

// WriteKubernetes returns the manifests of a job: an Indexed Job whose pods make the parts, and a Job that waits for
// them and joins them.
func WriteKubernetes(ctx context.Context, h Host, commands []Command, o Options) (string, error) {
	if len(commands) > 1 {
		return "", hint.Misused("cluster: found %d commands, expected one: Jobs of Kubernetes do not depend on "+
			"each other", len(commands))
	}
	list, e, err := prepare(ctx, h, commands, &o, o.Memory == 0)
	if err != nil {
		return "", err
	}
	s := list[0]
	if o.Kubernetes.Image == "" {
		return "", hint.Misused("cluster: --image missing: the container that holds winnow")
	}
	for _, flag := range []string{"out", "manifest", "root"} {
		if at := s.Flags[flag]; o.Kubernetes.Claim == "" && at != "" && !location.At(at).IsRemote() {
			return "", hint.Misused("cluster: --claim missing: --%s %s lies on a volume that all pods see, "+
				"expected the name of its claim, or an address in an object store", flag, at)
		}
	}
	name, err := jobName(o.Kubernetes.Name, s.out)
	if err != nil {
		return "", err
	}
	tasks, join := indexedJob(name, s, o, e), joinJob(name, s, o, e)
	var b strings.Builder
	fmt.Fprintf(&b, "# winnow %s in %d pods, and the join of what they make. kubectl apply -f THIS\n", s.Name, s.tasks)
	if why := e.because(s.tasks); why != "" {
		fmt.Fprintf(&b, "# %s.\n", why)
	}
	for _, part := range []struct {
		comment string
		job     manifest
	}{
		{"Pod I makes part I+1. One that is disrupted does not count as failed; one that is misused (exit code 2) " +
			"is not tried again; others are.", tasks},
		{"Its pod waits until all parts are there, and joins them. Where a part failed for good: kubectl get job, " +
			"mend, kubectl delete job, apply again: parts\n# that are there are not made twice.", join},
	} {
		text, err := yaml.MarshalWithOptions(part.job, yaml.IndentSequence(false))
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "---\n# %s\n%s", part.comment, text)
	}
	return b.String(), nil
}

// indexedJob returns the Job that makes the parts.
func indexedJob(name string, s stage, o Options, e estimate) manifest {
	c := o.container("winnow", s.out)
	c.Args = literally(s.with("--shard", "auto/"+strconv.Itoa(s.tasks))...)
	c.Resources.set("cpu", strconv.Itoa(max(o.CPUs, 1)), false)
	if bytes := cmp.Or(o.Memory, e.memory()); bytes > 0 {
		c.Resources.set("memory", fmt.Sprintf("%dMi", megabytes(bytes)), true)
	}
	if o.GPUs > 0 {
		c.Resources.set("nvidia.com/gpu", strconv.Itoa(o.GPUs), true)
	}
	atOnce := s.tasks
	if o.AtOnce > 0 {
		atOnce = min(atOnce, o.AtOnce)
	}
	failed := s.tasks / 10 // if more than a tenth fail, something is wrong with all
	m := o.manifest(name, s.out, job{
		CompletionMode: "Indexed", Completions: s.tasks, Parallelism: atOnce,
		BackoffLimitPerIndex: &o.Retries, MaxFailedIndexes: &failed,
		PodFailurePolicy: &failurePolicy{Rules: []failureRule{
			{Action: "Ignore", OnPodConditions: []condition{{Type: "DisruptionTarget", Status: "True"}}},
			{Action: "FailIndex", OnExitCodes: &exitCodes{ContainerName: c.Name, Operator: "In", Values: []int{2}}},
		}},
	}, c)
	return m
}

// joinJob returns the Job that joins the parts. An init container, which needs no rights in the cluster, waits for
// them.
func joinJob(name string, s stage, o Options, e estimate) manifest {
	wait, c := o.container("wait", s.out), o.container("winnow", s.out)
	wait.Command = literally("sh", "-c", `until winnow cluster status "$0"; do sleep 30; done`, s.out.String())
	c.Args = literally("join", s.out.String())
	for _, each := range []*container{&wait, &c} {
		each.Resources.set("cpu", "100m", false)
		each.Resources.set("memory", "256Mi", false)
	}
	if bytes := cmp.Or(o.Memory, e.memory()); bytes > 0 { // a join holds all paths in memory, as a task does
		c.Resources.set("memory", fmt.Sprintf("%dMi", megabytes(bytes)), true)
	}
	retries := max(o.Retries, 1)
	m := o.manifest(name+"-join", s.out, job{BackoffLimit: &retries}, c)
	m.Spec.Template.Spec.InitContainers = []container{wait}
	return m
}

// literally escapes $(NAME), which Kubernetes would replace by a variable's value.
func literally(words ...string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strings.ReplaceAll(w, "$(", "$$(")
	}
	return list
}

func (r *resources) set(name, value string, limited bool) {
	if r.Requests == nil {
		r.Requests, r.Limits = map[string]string{}, map[string]string{}
	}
	if r.Requests[name] = value; limited {
		r.Limits[name] = value
	}
}

// container returns a container of a pod. Output for an object store is first made in a volume of the pod.
func (o Options) container(name string, out location.Source) container {
	c := container{Name: name, Image: o.Kubernetes.Image, WorkingDir: o.Kubernetes.Mount}
	if o.Kubernetes.Secret != "" {
		c.EnvFrom = []envFrom{{named{o.Kubernetes.Secret}}}
	}
	if o.Kubernetes.Claim != "" {
		c.VolumeMounts = []mount{{"data", o.Kubernetes.Mount}}
	} else {
		c.WorkingDir = scratch
	}
	if out.IsRemote() {
		c.VolumeMounts = append(c.VolumeMounts, mount{"scratch", scratch})
		c.Env = []variable{{"TMPDIR", scratch}}
	}
	return c
}

func (o Options) manifest(name string, out location.Source, j job, c container) manifest {
	labels := map[string]string{"app.kubernetes.io/name": "winnow", "app.kubernetes.io/instance": name}
	j.Template = podTemplate{Metadata: meta{Labels: labels}, Spec: pod{RestartPolicy: "Never", Grace: grace,
		Containers: []container{c}}}
	if o.Kubernetes.Claim != "" {
		j.Template.Spec.Volumes = []volume{{Name: "data", Claim: &claim{o.Kubernetes.Claim}}}
	}
	if out.IsRemote() {
		j.Template.Spec.Volumes = append(j.Template.Spec.Volumes, volume{Name: "scratch", EmptyDir: &emptyDir{}})
	}
	return manifest{"batch/v1", "Job", meta{name, labels}, j}
}

// Names of Jobs become labels and host names of at most 63 letters, including -join and the numbers of pods.
var (
	nameForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?$`)
	unnamed  = regexp.MustCompile(`[^a-z0-9]+`)
)

// jobName returns the name asked for, or one from the output.
func jobName(asked string, out location.Source) (string, error) {
	name := asked
	if name == "" {
		name = "winnow-" + strings.Trim(unnamed.ReplaceAllString(strings.ToLower(out.Base()), "-"), "-")
		name = strings.TrimRight(name[:min(len(name), 50)], "-")
	}
	if !nameForm.MatchString(name) {
		return "", hint.Misused("--name: found %q, expected at most 50 small letters, digits and -, a letter or "+
			"digit at both ends", name)
	}
	return name, nil
}
