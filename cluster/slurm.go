package cluster

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"text/template"

	"winnow/datasets/location"
	"winnow/internal/hint"
)

// Slurm are options of Slurm alone.
type Slurm struct {
	Partition string
	Time      string   // of a task, as sbatch reads it
	More      []string // options of sbatch: --account=birds
}

// slurmDir returns the folder of a job's scripts, logs and notes.
func slurmDir(out location.Source) string { return out.Clean().Path() + ".slurm" }

// script is a batch script, of an array or of one task.
type script struct {
	Name    string // 1-extract, 1-extract-join
	File    string // quoted
	Options []string
	Dir     string // working folder, quoted
	Logs    string // folder of the logs, quoted
	Array   string // the tasks: 1-8; "": it is no array
	AtOnce  string // "", or %16
	Command string // quoted
	What    string
	Retries int
}

// WriteSlurm returns the shell script that submits a job to Slurm: it writes the scripts of the tasks next to the
// output and passes them to sbatch, each stage depending on the one before.
func WriteSlurm(h Host, commands []Command, o Options) (string, error) {
	o.Program = cmp.Or(o.Program, h.Self)
	list, err := listStages(commands, o)
	if err != nil {
		return "", err
	}
	if out := list[0].out; out.IsRemote() {
		return "", hint.Misused("cluster: --out %s: expected a path in a folder that all nodes see: scripts and logs "+
			"lie beside it. Parts in an object store need none: run extract with --shard auto in an array of your own",
			out)
	}
	for _, text := range append([]string{h.Dir, o.Program, o.Slurm.Partition, o.Slurm.Time}, o.Slurm.More...) {
		if strings.ContainsFunc(text, isControl) {
			return "", hint.Misused("cluster: %q: found a line feed or another control character, expected none", text)
		}
	}
	folder := slurmDir(list[0].out)
	if !filepath.IsAbs(folder) && strings.Contains(h.Dir, `\`) || strings.Contains(folder, `\`) {
		return "", hint.Misused("cluster: --out %q: Slurm takes no \\ in the names of logs, expected none in it",
			list[0].out)
	}
	job := struct {
		Summary, Dir, Folder, Submit string
		Scripts                      []script
	}{Dir: quoteWords(h.Dir), Folder: quoteWords(folder), Submit: quoteWords(filepath.Join(folder, "submit.sh"))}
	var names []string
	for _, s := range list {
		names = append(names, s.Name)
		job.Scripts = append(job.Scripts, h.stageScript(folder, s, o))
		if s.tasks > 0 {
			names = append(names, "join")
			job.Scripts = append(job.Scripts, h.joinScript(folder, s, o))
		}
	}
	job.Summary = fmt.Sprintf("%s, the first in %d tasks", strings.Join(names, " → "), o.Tasks)
	var b strings.Builder
	if err := submitting.Execute(&b, job); err != nil {
		return "", err
	}
	return b.String(), nil
}

// stageScript returns the script of a stage, or of each of its tasks if it is divided.
func (h Host) stageScript(folder string, s stage, o Options) script {
	one := h.blankScript(folder, s.stageName(), s.tasks > 0, o)
	add := func(format string, args ...any) { one.Options = append(one.Options, fmt.Sprintf(format, args...)) }
	if o.CPUs > 0 {
		add("--cpus-per-task=%d", o.CPUs)
	}
	if device := s.deviceIn(); o.GPUs > 0 && (strings.HasPrefix(device, "cuda") || device == "auto") {
		add("--gres=gpu:%d", o.GPUs)
	}
	one.What, one.Command = "winnow "+s.Name, quoteWords(append([]string{o.Program}, s.Words...)...)
	if s.tasks > 0 {
		one.What = fmt.Sprintf("One of %d tasks of winnow %s: its number is its shard's.", s.tasks, s.Name)
		one.Array = fmt.Sprintf("1-%d", s.tasks)
		if o.AtOnce > 0 {
			one.AtOnce = fmt.Sprintf("%%%d", o.AtOnce)
		}
		one.Command = quoteWords(
			append([]string{o.Program}, s.withFlags("--shard", "auto/"+strconv.Itoa(s.tasks))...)...)
	}
	if s.tasks > 0 && o.Slurm.Time != "" { // the time of a stage that is not divided is unknown
		add("--time=%s", slurmQuoted(o.Slurm.Time))
	}
	return one
}

// joinScript returns the script that joins the parts of an array.
func (h Host) joinScript(folder string, s stage, o Options) script {
	one := h.blankScript(folder, s.stageName()+"-join", false, o)
	one.What = "Joins the parts. It never starts if a task failed for good (winnow cluster status shows which)."
	one.Command = quoteWords(o.Program, "join", s.out.String())
	return one
}

// blankScript returns a script with what all scripts have in common.
func (h Host) blankScript(folder, name string, array bool, o Options) script {
	logs := filepath.Join(folder, name)
	log := logs
	if !filepath.IsAbs(log) {
		log = filepath.Join(h.Dir, log)
	}
	job := "%j"
	if array {
		job = "%A_%a"
	}
	log = filepath.Join(strings.ReplaceAll(log, "%", "%%"), job+".log")
	s := script{
		Name:    name,
		File:    quoteWords(logs + ".sh"),
		Dir:     quoteWords(h.Dir),
		Logs:    quoteWords(logs),
		Retries: o.Retries,
		Options: []string{"--job-name=" + slurmQuoted("winnow-"+name), "--nodes=1", "--ntasks=1", "--requeue",
			"--open-mode=append", "--signal=B:USR1@120",
			"--output=" + slurmQuoted(log)},
	}
	if o.Memory > 0 {
		s.Options = append(s.Options, fmt.Sprintf("--mem=%dM", toMegabytes(o.Memory)))
	}
	if o.Slurm.Partition != "" {
		s.Options = append(s.Options, "--partition="+slurmQuoted(o.Slurm.Partition))
	}
	for _, more := range o.Slurm.More {
		name, value, given := strings.Cut(more, "=")
		if given {
			name += "=" + slurmQuoted(value)
		}
		s.Options = append(s.Options, name)
	}
	return s
}

// deviceIn returns the device that a command's words name.
func (c Command) deviceIn() string {
	if d := c.Flags["device"]; d != "" {
		return d
	}
	if len(c.Words) > 1 && c.Words[0] == "--device" {
		return c.Words[1]
	}
	return ""
}

// slurmQuoted returns a value as sbatch reads it in a script.
func slurmQuoted(value string) string {
	if !strings.ContainsFunc(value, func(r rune) bool { return !needsNoQuotes(r) }) {
		return value
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value) + `"`
}

// toMegabytes rounds up to MiB.
func toMegabytes(bytes int64) int64 { return (bytes + 1<<20 - 1) >> 20 }

// submitting is the script that is printed. No line of the files that it writes is END: the templates begin every line.
var submitting = template.Must(template.Must(template.New("task").Parse(task)).New("submit").Parse(`#!/bin/sh
# {{.Summary}}.
# sh THIS submits all. Later winnow cluster status shows which parts are missing, and how to run their tasks and what
# follows again with {{.Submit}}.
set -eu
cd -- {{.Dir}}
mkdir -p --{{range .Scripts}} {{.Logs}}{{end}}
{{- range .Scripts}}
cat >{{.File}} <<'END'
{{template "task" .}}END
{{- end}}
cat >{{.Submit}} <<'END'
#!/bin/sh
# Submits the array, or only the tasks named (3,7), and what follows. Each stage waits until the one before has
# succeeded (afterok). If that has become impossible, Slurm removes the stage (--kill-on-invalid-dep); this script
# submits it again.
set -eu
cd -- {{.Dir}}
{{range $i, $s := .Scripts -}}
job=$(sbatch --parsable
{{- if $i}} --dependency=afterok:"$job" --kill-on-invalid-dep=yes{{end}}
{{- if .Array}} --array={{if $i}}{{.Array}}{{else}}"${1:-{{.Array}}}"{{end}}{{.AtOnce}}{{end}} {{.File}})
job=${job%%;*} # without the cluster's name
echo "{{.Name}}: job $job"
{{end}}END
exec sh {{.Submit}} "$@"
`))

// task is a batch script. winnow runs in the background, so that the shell gets signals at once: USR1 two minutes
// before the time is up, TERM if the job is cancelled. After a signal it waits again. If the process ends at the
// moment of the signal, bash loses its exit code and reports -1.
const task = `#!/bin/bash
# {{.What}}
{{- range .Options}}
#SBATCH {{.}}
{{- end}}
cd -- {{.Dir}} || exit 1
id=${SLURM_ARRAY_JOB_ID:+${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID}
id=${id:-$SLURM_JOB_ID}

# again sends the task back to the queue, at most {{.Retries}} times; Slurm starts it two minutes later.
again() {
	[ "${SLURM_RESTART_COUNT:-0}" -lt {{.Retries}} ] || return
	for pause in 1 2 4 8 16 32 64 128; do # the controller may be away
		scontrol requeue "$id" && exit 1
		sleep $pause
	done
}

{{.Command}} &
winnow=$! late= cancelled=
trap 'told=yes late=yes; kill -TERM $winnow' USR1
trap 'told=yes cancelled=yes; kill -TERM $winnow' TERM
told=yes
while [ -n "$told" ]; do
	told=
	wait $winnow
	code=$?
done
[ $code -ge 0 ] || code=143
echo "winnow ended with exit code $code on ${SLURMD_NODENAME:-an unknown node}"
case $code,$late,$cancelled in
0,* | 2,*) ;;               # done, or misused: trying again does not help
*,yes) ;;                   # cancelled: its work is kept
130,, | 143,,) ;;           # stopped by hand, likewise
*) again ;;                 # out of time: it continues. Failed: perhaps because of its machine
esac
exit $code
`
