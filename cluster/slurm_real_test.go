//go:build slurm

package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// patient bounds what the test waits for.
const patient = 60 * time.Second

// engine is a Slurm cluster on this machine: a controller and nodes that listen on 127.0.0.1 alone.
type engine struct {
	t       *testing.T
	dir     string
	daemons map[string]*exec.Cmd
}

// nodes are those of the engine, of one core each.
var nodes = []string{"n1", "n2", "n3"}

func newEngine(t *testing.T) *engine {
	t.Helper()
	dir, err := os.MkdirTemp("", "winnow-slurm-") // short: names of sockets are bounded
	if err != nil {
		t.Fatal(err)
	}
	e := &engine{t, dir, map[string]*exec.Cmd{}}
	t.Cleanup(func() {
		e.stop()
		if t.Failed() {
			t.Logf("what the daemons said is in %s", dir)
		} else if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	for _, sub := range []string{"state", "spool", "munge"} {
		if err := os.Mkdir(filepath.Join(dir, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil { // munge looks at who may reach its socket
		t.Fatal(err)
	}
	key := bytes.Repeat([]byte("winnow's own key, for a cluster that lives for a minute."), 4)
	if err := os.WriteFile(filepath.Join(dir, "munge", "key"), key, 0o400); err != nil {
		t.Fatal(err)
	}
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	host, _, _ = strings.Cut(host, ".")
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	port := ports(t, 1+len(nodes))
	conf := fmt.Sprintf(`ClusterName=winnow
SlurmctldHost=%[1]s(127.0.0.1)
SlurmctldPort=%[2]d
SlurmUser=%[3]s
SlurmdUser=%[3]s
AuthType=auth/munge
AuthInfo=socket=%[4]s/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=%[4]s/state
SlurmdSpoolDir=%[4]s/spool/%%n
SlurmctldPidFile=%[4]s/slurmctld.pid
SlurmdPidFile=%[4]s/slurmd.%%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
ReturnToService=2
SlurmdTimeout=6
SlurmctldTimeout=6
KillWait=2
SwitchType=switch/none
MpiDefault=none
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
SchedulerParameters=sched_interval=2,bf_interval=2
PartitionName=main Nodes=ALL Default=YES State=UP
`, host, port[0], me.Username, dir)
	for i, n := range nodes {
		conf += fmt.Sprintf("NodeName=%s NodeHostname=%s NodeAddr=127.0.0.1 Port=%d CPUs=1 RealMemory=4000\n", n,
			host, port[i+1])
	}
	if err := os.WriteFile(e.conf(), []byte(conf), 0o644); err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", e.conf())
	m := filepath.Join(dir, "munge")
	e.start("munged", "munged", "-F", "--force", "--key-file="+m+"/key", "--socket="+m+"/socket",
		"--pid-file="+m+"/pid", "--log-file="+m+"/log", "--seed-file="+m+"/seed")
	e.until("munge answers", func() bool { return exec.Command("munge", "-n", "-S", m+"/socket").Run() == nil })
	e.startController()
	for _, n := range nodes {
		e.startNode(n)
	}
	e.until("all nodes are idle", func() bool {
		return strings.Count(e.ask("sinfo", "-h", "-N", "-o", "%t"),
			"idle") == len(nodes)
	})
	return e
}

func (e *engine) conf() string { return filepath.Join(e.dir, "slurm.conf") }

// ports finds free ones.
func ports(t *testing.T, n int) (list []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		list = append(list, l.Addr().(*net.TCPAddr).Port)
	}
	return list
}

func (e *engine) startController() {
	e.start("controller", "slurmctld", "-D", "-f", e.conf())
	e.until("the controller answers", func() bool { return exec.Command("scontrol", "ping").Run() == nil })
}

func (e *engine) startNode(name string) { e.start(name, "slurmd", "-D", "-N", name, "-f", e.conf()) }

// start starts a daemon in a group of processes of its own.
func (e *engine) start(name string, words ...string) {
	e.t.Helper()
	log, err := os.OpenFile(filepath.Join(e.dir, name+".log"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		e.t.Fatal(err)
	}
	defer log.Close()
	c := exec.Command(words[0], words[1:]...)
	c.Stdout, c.Stderr = log, log
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := c.Start(); err != nil {
		e.t.Fatal(err)
	}
	e.daemons[name] = c
}

// kill ends a daemon as kill -9 does.
func (e *engine) kill(name string) {
	c := e.daemons[name]
	delete(e.daemons, name)
	_ = c.Process.Kill()
	_ = c.Wait()
}

// saved waits until the controller has written down what it knows now: it does so within seconds of a change, and
// forgets the rest where it dies before.
func (e *engine) saved() {
	now := time.Now()
	e.until("the controller saves its state", func() bool {
		info, err := os.Stat(filepath.Join(e.dir, "state", "job_state"))
		return err == nil && info.ModTime().After(now)
	})
}

// crash ends a node's slurmd and all that it runs, as if its machine had lost power.
func (e *engine) crash(node string) {
	e.kill(node)
	for _, p := range processes("SLURMD_NODENAME=" + node) {
		if !strings.Contains(p.environment, "\x00SLURM_CONF="+e.conf()+"\x00") {
			continue
		}
		stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
		var state string
		var parent int
		if _, err := fmt.Sscanf(string(stat[bytes.LastIndexByte(stat, ')')+1:]), "%s %d", &state, &parent); err == nil {
			if above, _ := os.ReadFile(fmt.Sprintf("/proc/%d/comm", parent)); strings.HasPrefix(string(above),
				"slurmstepd") {
				_ = syscall.Kill(parent, syscall.SIGKILL)
			}
		}
		_ = syscall.Kill(p.pid, syscall.SIGKILL)
	}
}

// stop ends all daemons, and what they started: that has the configuration's name in its environment.
func (e *engine) stop() {
	for _, name := range append([]string{"controller", "munged"}, nodes...) {
		if e.daemons[name] != nil {
			e.kill(name)
		}
	}
	for _, p := range processes("SLURM_CONF=" + e.conf()) {
		if p.pid != os.Getpid() {
			_ = syscall.Kill(p.pid, syscall.SIGKILL)
		}
	}
}

// until polls.
func (e *engine) until(what string, is func() bool) {
	e.t.Helper()
	for end := time.Now().Add(patient); !is(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			e.t.Fatalf("waited %v in vain until %s\n%s\n%s", patient, what, e.ask("squeue", "-r", "-a"),
				e.ask("sinfo", "-N", "-l"))
		}
	}
}

// ask returns what a program of Slurm prints, "" where it fails.
func (e *engine) ask(words ...string) string {
	ctx, cancel := context.WithTimeout(e.t.Context(), 10*time.Second)
	defer cancel()
	out, _ := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	return string(out)
}

// process is one of this machine's.
type process struct {
	pid         int
	words       string
	environment string
}

// processes returns those with a variable.
func processes(variable string) (list []process) {
	names, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, name := range names {
		environment, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(append([]byte{0}, environment...), append(append([]byte{0}, variable...), 0)) {
			continue
		}
		words, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		list = append(list, process{pid, strings.ReplaceAll(string(words), "\x00", " "), "\x00" + string(environment)})
	}
	return list
}

// atWork returns a process of winnow that makes a part, on a node whose name begins so, and the part, once some of
// its rows are stored.
func (e *engine) atWork(out, node string) (p process, shard int) {
	e.until("a task is in the middle of its part on "+node, func() bool {
		for _, p = range processes("SLURM_CONF=" + e.conf()) {
			_, task, _ := strings.Cut(p.environment, "\x00SLURM_ARRAY_TASK_ID=")
			task, _, _ = strings.Cut(task, "\x00")
			shard, _ = strconv.Atoi(task)
			on := strings.Contains(p.environment, "\x00SLURMD_NODENAME="+node)
			if shard == 0 || !on || !strings.Contains(p.words, " extract --shard ") ||
				strings.HasPrefix(p.words, "/bin/bash") {
				continue
			}
			if rows(filepath.Join(out+".parts", fmt.Sprintf("%d-of-8", shard))) > 0 {
				return true
			}
		}
		return false
	})
	return p, shard
}

// rows returns how many bytes of vectors a part that is being made has.
func rows(part string) (n int64) {
	_ = filepath.WalkDir(part, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && !entry.IsDir() && strings.Contains(entry.Name(), "features") {
			n += info.Size()
		}
		return nil
	})
	if _, err := os.Stat(filepath.Join(part, "store.json")); err == nil {
		return 0 // finished
	}
	return n
}

// winnow runs the program and returns what it prints; code is what it should end with.
func winnow(t *testing.T, code int, words ...string) string {
	t.Helper()
	c := exec.Command(os.Getenv("WINNOW"), words...)
	var complaints bytes.Buffer
	c.Stderr = &complaints
	out, err := c.Output()
	got := 0
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != code {
		t.Fatalf("winnow %s: exit code %d, expected %d\n%s%s", strings.Join(words, " "), got, code, out,
			complaints.String())
	}
	return string(out)
}

// submit runs the script that winnow cluster slurm prints.
func submit(t *testing.T, words ...string) {
	t.Helper()
	c := exec.Command("sh")
	c.Stdin = strings.NewReader(winnow(t, 0, words...))
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	t.Logf("%s", said)
}

// status asks winnow cluster status.
func status(t *testing.T, out string) Status {
	t.Helper()
	c := exec.Command(os.Getenv("WINNOW"), "cluster", "status", "--json", out)
	text, err := c.Output()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		t.Fatal(err)
	}
	if len(text) == 0 { // no part is begun
		return Status{}
	}
	var list []Status
	if err := json.Unmarshal(text, &list); err != nil || len(list) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	return list[0]
}

// TestSlurm runs extract → join → audit as 8 tasks of a real Slurm, kills a task's process, a node's slurmd and the
// controller, each in the middle of the work, and compares all bytes with those of one machine. make cluster installs
// Slurm and runs it.
func TestSlurm(t *testing.T) {
	if os.Getenv("WINNOW") == "" {
		t.Fatal("WINNOW is not set: run make cluster")
	}
	began := time.Now()
	work := t.TempDir()
	t.Chdir(work)
	winnow(t, 0, "data", "glyphs", "--out", "drawn", "--classes", "60", "--images", "100")
	words := []string{"--threads", "1", "extract", "--manifest", "drawn/manifest.csv", "--root", "drawn", "--model",
		"glyphnet", "--views", "11*prism", "--workers", "1"}
	winnow(t, 0, append(words, "--out", "one", "--batch", "32")...)
	audit := func(features string) []string {
		return []string{"audit", "--manifest", "drawn/manifest.csv", "--features", features, "--scorer", "centres",
			"--fit-sample", "2000", "--out", features + ".suspects.csv", "--classes", features + ".classes.csv"}
	}
	winnow(t, 0, audit("one")...)
	t.Logf("%.1f s: one machine is done", time.Since(began).Seconds())

	e := newEngine(t)
	t.Logf("%.1f s: Slurm is up", time.Since(began).Seconds())
	submit(t, slices.Concat([]string{"cluster", "slurm", "--tasks", "8", "--mem", "512MiB", "--"}, words,
		[]string{"--out", "dealt", "--"}, audit("dealt"))...)

	p, shard := e.atWork("dealt", "n1")
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	t.Logf("%.1f s: killed the process of task %d", time.Since(began).Seconds(), shard)

	_, shard = e.atWork("dealt", "n3")
	e.saved() // a task that it forgets is started a second time, and Slurm drains the node for that
	e.kill("controller")
	t.Logf("%.1f s: killed the controller during task %d", time.Since(began).Seconds(), shard)
	e.until("a task ends without a controller", func() bool {
		return !slices.ContainsFunc(status(t, "dealt").Open, func(o Task) bool { return o.Shard == shard })
	})
	e.startController()
	t.Logf("%.1f s: the controller is back", time.Since(began).Seconds())

	p, shard = e.atWork("dealt", "n") // any: all tasks of one may have ended by now
	_, node, _ := strings.Cut(p.environment, "\x00SLURMD_NODENAME=")
	node, _, _ = strings.Cut(node, "\x00")
	e.crash(node)
	t.Logf("%.1f s: killed the slurmd of %s and what it ran, task %d", time.Since(began).Seconds(), node, shard)
	e.until("the controller misses "+node, func() bool {
		return strings.Contains(e.ask("sinfo", "-h", "-N", "-n",
			node, "-o", "%t"), "down")
	})
	t.Logf("%.1f s: the controller misses it", time.Since(began).Seconds())
	e.startNode(node)

	released := 0
	e.until("the audit is done", func() bool {
		for line := range strings.Lines(e.ask("squeue", "-h", "-r", "-o", "%i|PENDING|%r")) {
			if id, reason, _ := strings.Cut(line, "|PENDING|"); strings.Contains(strings.ToLower(reason), "held") {
				released++ // what was starting while the controller died
				e.ask("scontrol", "release", id)
			}
		}
		_, err := os.Stat("dealt.suspects.csv")
		return err == nil
	})
	t.Logf("%.1f s: done, %d times released", time.Since(began).Seconds(), released)
	t.Log(winnow(t, 0, "cluster", "status", "dealt"))
	for _, name := range []string{"features.npy", "paths.txt"} {
		equal(t, filepath.Join("one", name), filepath.Join("dealt", name))
	}
	equal(t, "one.suspects.csv", "dealt.suspects.csv")
	equal(t, "one.classes.csv", "dealt.classes.csv")
	t.Logf("%.1f s: all bytes are those of one machine", time.Since(began).Seconds())

	again(t, e, words)
	t.Logf("%.1f s: a task that failed for good was run again", time.Since(began).Seconds())
}

// again lets a task fail for good: its join leaves the queue, and the command that winnow cluster status names runs
// the task and the join.
func again(t *testing.T, e *engine, words []string) {
	program := "#!/bin/sh\n[ \"$SLURM_ARRAY_TASK_ID\" != 2 ] || [ -e mended ] || exit 2\nexec " +
		quoteWords(os.Getenv("WINNOW")) + ` "$@"` + "\n"
	if err := os.WriteFile("it's winnow", []byte(program), 0o755); err != nil {
		t.Fatal(err)
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const out = `a "part", 100% $HOME's`
	check := []string{"data", "check", "drawn/manifest.csv", "--root", "drawn", "--out", out}
	winnow(t, 0, "data", "check", "drawn/manifest.csv", "--root", "drawn", "--out", "one.json")
	submit(t, slices.Concat([]string{"cluster", "slurm", "--tasks", "3", "--mem", "512MiB", "--program",
		filepath.Join(dir, "it's winnow"), "--"}, check)...)
	var s Status
	e.until("the second task has failed and its join is gone", func() bool {
		s = status(t, out)
		return s.Present == 2 && s.Next != "" && strings.TrimSpace(e.ask("squeue", "-h")) == ""
	})
	if len(s.Open) != 1 || s.Open[0].Shard != 2 || s.Joined {
		t.Fatalf("%+v", s)
	}
	if err := os.WriteFile("mended", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.Command("sh", "-c", s.Next).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", s.Next, err, said)
	}
	e.until("the parts are joined", func() bool { s = status(t, out); return s.Joined && s.Next == "" })
	equal(t, "one.json", out)
}

func equal(t *testing.T, one, dealt string) {
	t.Helper()
	a, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(dealt)
	if err != nil {
		t.Fatal(err)
	}
	if len(a) == 0 || !bytes.Equal(a, b) {
		t.Errorf("%s and %s differ: %d and %d bytes", one, dealt, len(a), len(b))
	}
}
