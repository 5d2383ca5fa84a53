// Package cluster divides the work of a command among machines. Every machine runs the same command with --shard and
// makes one part of the output OUT. The part is the folder OUT.parts/3-of-8, which records its job, inputs, settings
// and the checksums of its files. A complete part is not made again, and parts of different jobs are never joined. A
// command provides a [Job], which defines how rows are processed and how the parts are merged.
//
// The package also writes a script for Slurm and manifests for Kubernetes from templates. Scheduling, retries and logs
// are left to these systems.
package cluster

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// Command is a parsed command line of winnow.
type Command struct {
	Name  string            // "extract", "data check"
	Words []string          // all words after the program's name
	At    int               // index of the first word after the command's name
	Flags map[string]string // values of the given flags, by their primary names
	Known []string          // flags that the command has
}

// Options holds the values for the templates.
type Options struct {
	Tasks int // number of parts

	Dir, Program string   // Slurm: the working folder, and the path of winnow on the nodes
	Sbatch       []string // Slurm: options of sbatch, such as --account=birds

	Image string // Kubernetes: the container image with winnow
	Claim string // Kubernetes: the persistent volume claim with manifest, images and output
}

// mostTasks is the largest number of tasks that Slurm and Kubernetes allow in one array.
const mostTasks = 100_000

// checkCommand returns an error for a command that cannot be divided.
func (o Options) checkCommand(c Command) error {
	switch {
	case o.Tasks < 1 || o.Tasks > mostTasks:
		return hint.Misused("--tasks: found %d, expected 1 to %d", o.Tasks, mostTasks)
	case !slices.Contains(c.Known, "shard") || c.Flags["shard"] != "":
		return hint.Misused("cluster: winnow %s: expected a command with a flag --shard, which is not set", c.Name)
	case c.Flags["out"] == "":
		return hint.Misused("cluster: winnow %s: --out is missing; expected the output of which each task makes a part",
			c.Name)
	}
	for _, word := range slices.Concat(c.Words, o.Sbatch, []string{o.Dir, o.Program, o.Image, o.Claim}) {
		if strings.ContainsFunc(word, func(r rune) bool { return r < ' ' || r == 0x7f }) {
			return hint.Misused("cluster: %q contains a control character, expected none", word)
		}
	}
	return nil
}

// shardWords returns the command line of a task.
func (o Options) shardWords(c Command) []string {
	return slices.Concat(c.Words[:c.At], []string{"--shard", "auto/" + strconv.Itoa(o.Tasks)}, c.Words[c.At:])
}

// WriteSlurm returns a shell script that submits an array of tasks, which make the parts, and a job that joins the
// parts after them.
func WriteSlurm(c Command, o Options) (string, error) {
	if err := o.checkCommand(c); err != nil {
		return "", err
	}
	options := ""
	for _, option := range o.Sbatch {
		options += " " + QuoteWords(option)
	}
	var b strings.Builder
	err := slurmScript.Execute(&b, map[string]any{"Name": c.Name, "Tasks": o.Tasks, "Dir": QuoteWords(o.Dir),
		"Options": options, "Task": QuoteWords(append([]string{o.Program}, o.shardWords(c)...)...),
		"Join": QuoteWords(o.Program, "join", c.Flags["out"])})
	return b.String(), err
}

var slurmScript = template.Must(template.New("slurm").Parse(`#!/bin/sh
# winnow {{.Name}} in {{.Tasks}} tasks, and the join of what they make. sh THIS submits all; sh THIS 3,7 submits these
# tasks again, and the join. A task continues where it was stopped; winnow cluster status OUT shows which are open.
set -eu
cd -- {{.Dir}}
job=$(sbatch --parsable --array="${1:-1-{{.Tasks}}}" \
	--requeue --open-mode=append --signal=B:TERM@120{{.Options}} <<'END'
#!/bin/sh
exec {{.Task}}
END
)
sbatch --dependency=afterok:"${job%%;*}" --kill-on-invalid-dep=yes{{.Options}} <<'END'
#!/bin/sh
exec {{.Join}}
END
`))

// QuoteWords returns words quoted for a shell.
func QuoteWords(words ...string) string {
	list := make([]string, len(words))
	for i, w := range words {
		if list[i] = w; !unquoted.MatchString(w) {
			list[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(list, " ")
}

// unquoted matches words that need no quotes in any shell.
var unquoted = regexp.MustCompile(`^[a-zA-Z0-9_./:,@%+=-]+$`)

// WriteKubernetes returns manifests of an Indexed Job, whose pods make the parts, and of a Job that waits for the parts
// and joins them.
func WriteKubernetes(c Command, o Options) (string, error) {
	if err := o.checkCommand(c); err != nil {
		return "", err
	}
	if o.Image == "" || o.Claim == "" {
		return "", hint.Misused("cluster: expected --image, the container image with winnow, and --claim, the " +
			"volume with manifest, images and output")
	}
	out := location.At(c.Flags["out"]).Clean()
	name := "winnow-" + strings.Trim(unnamed.ReplaceAllString(strings.ToLower(out.Base()), "-"), "-")
	var b strings.Builder
	err := kubernetesJobs.Execute(&b, map[string]any{"Job": c.Name, "Tasks": o.Tasks, "Image": o.Image,
		"Claim": o.Claim, "Name": strings.TrimRight(name[:min(len(name), 50)], "-"), "Words": o.shardWords(c),
		"Join": []string{"join", out.String()},
		"Wait": []string{"sh", "-c", `until winnow cluster status "$0"; do sleep 30; done`, out.String()}})
	return b.String(), err
}

// unnamed matches characters that are not allowed in the name of a Job.
var unnamed = regexp.MustCompile(`[^a-z0-9]+`)

// kubernetesJobs is the template of the manifests. It quotes user input as JSON, which is also YAML.
var kubernetesJobs = template.Must(template.New("jobs").Funcs(template.FuncMap{
	"text": quoteYAML, "literal": func(word string) string { // Kubernetes would replace $(NAME) by a variable's value
		return quoteYAML(strings.ReplaceAll(word, "$(", "$$("))
	}}).Parse(`# winnow {{.Job}} in {{.Tasks}} pods, and the join of what they make. Add memory, GPUs
# (nvidia.com/gpu: "1" and --device cuda) and secrets, then: kubectl apply -f THIS
---
# Pod I makes part I+1. One that is disrupted does not count as failed; one that is misused (exit code 2) is not tried
# again; others are. Parts that are there are not made twice.
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}
spec:
  completionMode: Indexed
  completions: {{.Tasks}}
  parallelism: {{.Tasks}}
  backoffLimitPerIndex: 2
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions:
      - {type: DisruptionTarget, status: "True"}
    - action: FailIndex
      onExitCodes: {containerName: winnow, operator: In, values: [2]}
  template:
    spec:
      restartPolicy: Never
      terminationGracePeriodSeconds: 120 # time to save work
      containers:
      - name: winnow
        args: [{{range $i, $w := .Words}}{{if $i}}, {{end}}{{literal $w}}{{end}}]
        resources:
          requests: {cpu: "1"}
{{- template "container" .}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: {{.Name}}-join
spec:
  backoffLimit: 2
  template:
    spec:
      restartPolicy: Never
      initContainers:
      - name: wait
        command: [{{range $i, $w := .Wait}}{{if $i}}, {{end}}{{literal $w}}{{end}}]
{{- template "mounted" .}}
      containers:
      - name: winnow
        args: [{{range $i, $w := .Join}}{{if $i}}, {{end}}{{literal $w}}{{end}}]
{{- template "container" .}}
{{define "mounted"}}
        image: {{text .Image}}
        workingDir: /data
        volumeMounts:
        - {name: data, mountPath: /data}
{{- end}}
{{- define "container"}}
{{- template "mounted" .}}
      volumes:
      - name: data
        persistentVolumeClaim: {claimName: {{text .Claim}}}
{{- end}}`))

// quoteYAML returns a text as JSON writes it.
func quoteYAML(word string) string {
	var b strings.Builder
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	_ = to.Encode(word) // encoding a string to a builder cannot fail
	return strings.TrimSuffix(b.String(), "\n")
}

// formatRanges formats ascending numbers as ranges in Slurm's notation: 1-3,7.
func formatRanges(numbers []int) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		if fmt.Fprint(&b, numbers[i]); j > i {
			fmt.Fprintf(&b, "-%d", numbers[j])
		}
		i = j + 1
	}
	return b.String()
}
