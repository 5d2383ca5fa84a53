package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"winnow/internal/hint"
)

// extraction returns a parsed command.
func extraction(out string, more ...string) Command {
	words := append([]string{"-q", "extract", "--manifest", "birds.csv", "--model", "no", "--out", out}, more...)
	return Command{Name: "extract", Words: words, At: 2, Flags: map[string]string{"out": out, "manifest": "birds.csv",
		"model": "no", "quiet": "true"}, Known: []string{"manifest", "model", "out", "shard"}}
}

// host is a host in dir.
func host(dir string) Host { return Host{Dir: dir, Self: "/opt/win now"} }

// stand puts programs named sbatch and scontrol into PATH that write down how they are called; sbatch answers with
// numbers from 101.
func stand(t *testing.T) (calls func() string) {
	t.Helper()
	bin := t.TempDir()
	log := filepath.Join(bin, "calls")
	for name, script := range map[string]string{
		"sbatch": "#!/bin/sh\necho sbatch \"$@\" >>" + quoteWords(log) + "\necho $((100 + $(grep -c ^sbatch " +
			"" + quoteWords(log) + ")))\n",
		"scontrol": "#!/bin/sh\necho scontrol \"$@\" >>" + quoteWords(log) + "\n",
	} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, err := os.ReadFile(log)
		if err != nil {
			return ""
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
}

func shell(t *testing.T, want int, environment []string, words ...string) string {
	t.Helper()
	c := exec.Command(words[0], words[1:]...)
	c.Env = append(os.Environ(), environment...)
	out, err := c.CombinedOutput()
	if err != nil && c.ProcessState == nil || c.ProcessState.ExitCode() != want {
		t.Fatalf("%s: %v, expected exit code %d\n%s", words, err, want, out)
	}
	return string(out)
}

// odd is a name that shells and sbatch could take for something else.
const odd = `it's "a"; 100% $HOME #1`

// The script submits the array, and behind it what waits for it; later some of its tasks and the same.
func TestSlurmSubmits(t *testing.T) {
	calls := stand(t)
	dir := filepath.Join(t.TempDir(), odd)
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	audit := Command{Name: "audit", Words: []string{"audit", "--features", odd, "--out", "s.csv"}, At: 1,
		Flags: map[string]string{"out": "s.csv"}}
	script, err := WriteSlurm(host(dir), []Command{extraction(odd), audit}, Options{Tasks: 8, AtOnce: 3})
	if err != nil {
		t.Fatal(err)
	}
	shell(t, 0, nil, "sh", "-c", script)
	folder := odd + ".slurm/"
	if diff := cmp.Diff("sbatch --parsable --array=1-8%3 "+folder+"1-extract.sh\n"+
		"sbatch --parsable --dependency=afterok:101 --kill-on-invalid-dep=yes "+folder+"1-extract-join.sh\n"+
		"sbatch --parsable --dependency=afterok:102 --kill-on-invalid-dep=yes "+folder+"2-audit.sh\n",
		calls()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	shell(t, 0, nil, "sh", filepath.Join(dir, folder, "submit.sh"), "3,7")
	if got := calls(); !strings.HasPrefix(got, "sbatch --parsable --array=3,7%3 "+folder+"1-extract.sh\nsbatch "+
		"--parsable --dependency=afterok:101 ") {
		t.Errorf("again: %s", got)
	}
	for name, want := range map[string]string{
		"1-extract": "'/opt/win now' -q extract --shard auto/8 --manifest birds.csv --model no --out " +
			"" + quoteWords(odd) + " &\n",
		"1-extract-join": "'/opt/win now' join " + quoteWords(odd) + " &\n",
		"2-audit":        "'/opt/win now' audit --features " + quoteWords(odd) + " --out s.csv &\n",
	} {
		text, err := os.ReadFile(filepath.Join(dir, folder, name+".sh"))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v: %q is missing in\n%s", name, err, want, text)
		}
	}
}

// A task requests what is asked for, and nothing else.
func TestSlurmRequests(t *testing.T) {
	for _, c := range []struct {
		o    Options
		want []string // lines
		not  string
	}{
		{Options{Tasks: 6}, []string{"# One of 6 tasks of", "\n#SBATCH --requeue\n"}, "--mem"},
		{Options{Tasks: 100, CPUs: 4, Slurm: Slurm{Partition: "long one",
			More: []string{"--account=birds & co", "--exclusive"}}},
			[]string{"--cpus-per-task=4", `--partition="long one"`, `--account="birds & co"`,
				"#SBATCH --exclusive\n"}, "--gres"},
		{Options{Tasks: 100, GPUs: 2, Memory: 3_000_000_000, Slurm: Slurm{Time: "2-00:00:00"}},
			[]string{"--gres=gpu:2", " --device cuda -q extract --shard auto/100 ", "--mem=2862M",
				"--time=2-00:00:00"}, "--partition"},
		{Options{Tasks: 2, Retries: 5, Program: "winnow"}, []string{`-lt 5 ]`, "\nwinnow -q extract "}, "/opt"},
	} {
		script, err := WriteSlurm(host("/w"), []Command{extraction("features")}, c.o)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(script, want) {
				t.Errorf("%+v: %q is missing in\n%s", c.o, want, script)
			}
		}
		if strings.Contains(script, c.not) {
			t.Errorf("%+v: found %q in\n%s", c.o, c.not, script)
		}
	}
}

// A task's script runs winnow, prints how it ended and goes back to the queue where that may help.
func TestTask(t *testing.T) {
	calls := stand(t)
	dir := t.TempDir()
	program := filepath.Join(dir, "winnow")
	script, err := WriteSlurm(Host{Dir: dir, Self: program}, []Command{{Name: "data check",
		Words: []string{"data", "check", "--out", "c"}, At: 2, Flags: map[string]string{"out": "c"},
		Known: []string{"shard"}}},
		Options{Tasks: 8, Retries: 2})
	if err != nil {
		t.Fatal(err)
	}
	shell(t, 0, nil, "sh", "-c", script)
	calls()
	task := filepath.Join(dir, "c.slurm", "1-data-check.sh")
	parent := "ppid=$(ps -o ppid= -p $$ | tr -d ' ')\n"
	for _, c := range []struct {
		name, does string
		restarts   string
		code       int    // of the script
		noted      string // of winnow
		requeued   bool
	}{
		{"done", "exit 0", "0", 0, "0", false},
		{"failed", "exit 1", "0", 1, "1", true},
		{"failed again", "exit 1", "1", 1, "1", true},
		{"failed for good", "exit 1", "2", 1, "1", false},
		{"misused", "exit 2", "0", 2, "2", false},
		{"killed", "kill -9 $$", "0", 1, "137", true},
		{"cancelled", parent + "trap 'exit 143' TERM; kill -TERM $ppid; while :; do sleep 0.02; done", "0", 143,
			"143", false},
		{"out of time", parent + "trap 'exit 143' TERM; kill -USR1 $ppid; while :; do sleep 0.02; done", "0", 1,
			"143", true},
	} {
		if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$@\"\n"+c.does+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		said := shell(t, c.code, []string{"SLURM_ARRAY_JOB_ID=12", "SLURM_ARRAY_TASK_ID=3", "SLURM_JOB_ID=15",
			"SLURM_RESTART_COUNT=" + c.restarts, "SLURMD_NODENAME=n7"}, "bash", task)
		if !strings.HasPrefix(said, "data check --shard auto/8 --out c\n") {
			t.Errorf("%s: winnow was called as %q", c.name, said)
		}
		want := ""
		if c.requeued {
			want = "scontrol requeue 12_3\n"
		}
		if got := calls(); got != want {
			t.Errorf("%s: found the calls %q, expected %q", c.name, got, want)
		}
		if !strings.Contains(said, "ended with exit code "+c.noted+" on n7\n") {
			t.Errorf("%s: printed %s", c.name, said)
		}
	}
}

// Words come back from a shell as they were.
func TestQuoted(t *testing.T) {
	words := []string{"", "a b", "it's", `"`, `\`, "$HOME `ls`", "a\tb", "*", "~", "#x", "a=b", "é", "-n", "%1", "!x",
		"a;b&c|d>e"}
	if got := shell(t, 0, nil, "bash", "-c", "printf '%s\\n' "+quoteWords(words...)); got != strings.Join(words,
		"\n")+"\n" {
		t.Errorf("found %q", got)
	}
}

func TestMisuse(t *testing.T) {
	plain := Command{Name: "audit", Words: []string{"audit"}, At: 1, Flags: map[string]string{}, Known: []string{"out"}}
	sharded := extraction("features", "--shard", "1/2")
	sharded.Flags["shard"] = "1/2"
	for want, c := range map[string]struct {
		commands []Command
		o        Options
	}{
		"no command":              {nil, Options{Tasks: 2}},
		"has no --shard":          {[]Command{plain}, Options{Tasks: 2}},
		"every task gets its own": {[]Command{sharded}, Options{Tasks: 2}},
		"--out missing": {[]Command{{Name: "embed", Words: []string{"embed"}, At: 1,
			Known: []string{"shard"}}}, Options{Tasks: 2}},
		"--tasks: found 0": {[]Command{{Name: "embed", Words: []string{"embed"}, At: 1,
			Flags: map[string]string{"out": "x"}, Known: []string{"shard"}}}, Options{}},
		"expected at most 100000":   {[]Command{extraction("features")}, Options{Tasks: 1 << 20}},
		"--gpus: found -1":          {[]Command{extraction("features")}, Options{Tasks: 1, GPUs: -1}},
		"another control character": {[]Command{extraction("a\nEND\nb")}, Options{Tasks: 2}},
		"Slurm takes no \\":         {[]Command{extraction(`a\b`)}, Options{Tasks: 2}},
		`"x\n#SBATCH -p y": found a line`: {[]Command{extraction("a")},
			Options{Tasks: 2, Slurm: Slurm{Partition: "x\n#SBATCH -p y"}}},
	} {
		_, err := WriteSlurm(host("/w"), c.commands, c.o)
		if _, misused := err.(hint.Misuse); !misused || !strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	for want, o := range map[string]Options{
		"--image missing":     {Tasks: 2, Kubernetes: Kubernetes{Claim: "c"}},
		"--claim missing":     {Tasks: 2, Kubernetes: Kubernetes{Image: "i"}},
		`--name: found "A b"`: {Tasks: 2, Kubernetes: Kubernetes{Image: "i", Claim: "c", Name: "A b"}},
	} {
		if _, err := WriteKubernetes([]Command{extraction("features")}, o); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("found %v, expected %q", err, want)
		}
	}
	if _, err := WriteKubernetes([]Command{extraction("features"), plain}, Options{}); err == nil ||
		!strings.Contains(err.Error(), "expected one") {
		t.Errorf("found %v", err)
	}
}
