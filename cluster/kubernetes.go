package cluster

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"text/template"

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

// WriteKubernetes returns the manifests of a job: an Indexed Job whose pods make the parts, and a Job that waits for
// them and joins them.
func WriteKubernetes(commands []Command, o Options) (string, error) {
	if len(commands) > 1 {
		return "", hint.Misused("cluster: found %d commands, expected one: Jobs of Kubernetes do not depend on "+
			"each other", len(commands))
	}
	list, err := listStages(commands, o)
	if err != nil {
		return "", err
	}
	s, k := list[0], o.Kubernetes
	if k.Image == "" {
		return "", hint.Misused("cluster: --image missing: the container that holds winnow")
	}
	for _, flag := range []string{"out", "manifest", "root"} {
		if at := s.Flags[flag]; k.Claim == "" && at != "" && !location.At(at).IsRemote() {
			return "", hint.Misused("cluster: --claim missing: --%s %s lies on a volume that all pods see, "+
				"expected the name of its claim, or an address in an object store", flag, at)
		}
	}
	if k.Name, err = jobName(k.Name, s.out); err != nil {
		return "", err
	}
	atOnce := s.tasks
	if o.AtOnce > 0 {
		atOnce = min(atOnce, o.AtOnce)
	}
	var b strings.Builder
	err = jobs.Execute(&b, struct {
		Options
		Job                             string
		AtOnce, MostFailed, JoinRetries int
		Words, Join, Wait               []string
		MiB                             int64
		Scratch                         bool // pods have a volume of their own for temporary files
	}{Options: o.withKubernetes(k), Job: s.Name, AtOnce: atOnce,
		MostFailed:  s.tasks / 10, // if more than a tenth fail, something is wrong with all
		JoinRetries: max(o.Retries, 1), Words: s.withFlags("--shard", "auto/"+strconv.Itoa(s.tasks)),
		Join: []string{"join", s.out.String()},
		Wait: []string{"sh", "-c", `until winnow cluster status "$0"; do sleep 30; done`, s.out.String()},
		MiB:  toMegabytes(o.Memory), Scratch: s.out.IsRemote()})
	return b.String(), err
}

// withKubernetes returns the options with those of Kubernetes replaced.
func (o Options) withKubernetes(k Kubernetes) Options {
	o.Kubernetes, o.CPUs = k, max(o.CPUs, 1)
	return o
}

// jobs is what is printed. Texts of users are quoted as JSON, which is YAML, too.
var jobs = template.Must(template.New("jobs").Funcs(template.FuncMap{"text": yamlText,
	"literal": func(word string) string { // Kubernetes would replace $(NAME) by a variable's value
		return yamlText(strings.ReplaceAll(word, "$(", "$$("))
	}}).Parse(`# winnow {{.Job}} in {{.Tasks}} pods, and the join of what they make. kubectl apply -f THIS
---
# Pod I makes part I+1. One that is disrupted does not count as failed; one that is misused (exit code 2) is not tried
# again; others are.
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Kubernetes.Name}}
  labels: {app.kubernetes.io/name: winnow, app.kubernetes.io/instance: {{.Kubernetes.Name}}}
spec:
  completionMode: Indexed
  completions: {{.Tasks}}
  parallelism: {{.AtOnce}}
  backoffLimitPerIndex: {{.Retries}}
  maxFailedIndexes: {{.MostFailed}}
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions:
      - type: DisruptionTarget
        status: "True"
    - action: FailIndex
      onExitCodes:
        containerName: winnow
        operator: In
        values: [2]
  template:
    metadata:
      labels: {app.kubernetes.io/name: winnow, app.kubernetes.io/instance: {{.Kubernetes.Name}}}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120 # time to save work
      containers:
      - name: winnow
{{- range $i, $w := .Words}}{{if not $i}}
        args:{{end}}
        - {{literal $w}}{{end}}
        resources:
          requests:
            cpu: "{{.CPUs}}"
{{- if .MiB}}
            memory: {{.MiB}}Mi{{end}}
{{- if .GPUs}}
            nvidia.com/gpu: "{{.GPUs}}"{{end}}
{{- if or .MiB .GPUs}}
          limits:{{if .MiB}}
            memory: {{.MiB}}Mi{{end}}
{{- if .GPUs}}
            nvidia.com/gpu: "{{.GPUs}}"{{end}}{{end}}
{{- template "container" .}}
{{- template "volumes" .}}
---
# Its pod waits until all parts are there, and joins them. If a part failed for good: kubectl get job, correct, kubectl
# delete job, apply again: parts that are there are not made twice.
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Kubernetes.Name}}-join
  labels: {app.kubernetes.io/name: winnow, app.kubernetes.io/instance: {{.Kubernetes.Name}}-join}
spec:
  backoffLimit: {{.JoinRetries}}
  template:
    metadata:
      labels: {app.kubernetes.io/name: winnow, app.kubernetes.io/instance: {{.Kubernetes.Name}}-join}
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120
      initContainers:
      - name: wait
{{- range $i, $w := .Wait}}{{if not $i}}
        command:{{end}}
        - {{literal $w}}{{end}}
        resources:
          requests: {cpu: 100m, memory: 256Mi}
{{- template "container" .}}
      containers:
      - name: winnow
{{- range $i, $w := .Join}}{{if not $i}}
        args:{{end}}
        - {{literal $w}}{{end}}
        resources:
          requests: {cpu: 100m, memory: {{if .MiB}}{{.MiB}}{{else}}256{{end}}Mi}
{{- if .MiB}}
          limits: {memory: {{.MiB}}Mi}{{end}}
{{- template "container" .}}
{{- template "volumes" .}}
{{define "container"}}
        image: {{text .Kubernetes.Image}}
        workingDir: {{if .Kubernetes.Claim}}{{text .Kubernetes.Mount}}{{else}}/scratch{{end}}
{{- if .Kubernetes.Secret}}
        envFrom:
        - secretRef: {name: {{text .Kubernetes.Secret}}}{{end}}
{{- if .Scratch}}
        env:
        - {name: TMPDIR, value: /scratch}{{end}}
{{- if or .Kubernetes.Claim .Scratch}}
        volumeMounts:{{end}}
{{- if .Kubernetes.Claim}}
        - name: data
          mountPath: {{text .Kubernetes.Mount}}{{end}}
{{- if .Scratch}}
        - name: scratch
          mountPath: /scratch{{end}}
{{- end}}
{{- define "volumes"}}
{{- if or .Kubernetes.Claim .Scratch}}
      volumes:{{end}}
{{- if .Kubernetes.Claim}}
      - name: data
        persistentVolumeClaim:
          claimName: {{text .Kubernetes.Claim}}{{end}}
{{- if .Scratch}}
      - name: scratch
        emptyDir: {}{{end}}
{{- end}}`))

// yamlText returns a text as JSON writes it.
func yamlText(word string) string {
	var b strings.Builder
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	_ = to.Encode(word) // a builder takes all, and a string is always JSON
	return strings.TrimSuffix(b.String(), "\n")
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
