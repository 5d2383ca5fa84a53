package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// odd is a name with characters that are special in shells and YAML.
const odd = `it's "a"; 100% $HOME $(X) #1`

// extraction returns a parsed command.
func extraction() Command {
	words := []string{"-q", "extract", "--manifest", "birds.csv", "--out", odd}
	return Command{Name: "extract", Words: words, At: 2, Flags: map[string]string{"out": odd},
		Known: []string{"manifest", "out", "shard"}}
}

// The script submits the array, or some of its tasks, followed by the join. Words with special characters are
// unchanged.
func TestSlurm(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "calls")
	sbatch := "#!/bin/sh\nprintf '%s|' sbatch \"$@\" >>" + log + "\ngrep ^exec | sh >>" + log + "\necho 101\n"
	if err := os.WriteFile(filepath.Join(dir, "sbatch"), []byte(sbatch), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "win now"), []byte("#!/bin/sh\nprintf '%s|' \"$@\"\necho\n"),
		0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	script, err := WriteSlurm(extraction(), Options{Tasks: 8, Dir: dir, Program: filepath.Join(dir, "win now"),
		Sbatch: []string{"--account=birds & co", "--mem=2G"}})
	if err != nil {
		t.Fatal(err)
	}
	for tasks, args := range map[string][]string{"1-8": nil, "3,7": {"3,7"}} {
		out, err := exec.Command("sh", append([]string{"-c", script, "sh"}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		calls, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff("sbatch|--parsable|--array="+tasks+"|--requeue|--open-mode=append|--signal=B:TERM@120|"+
			"--account=birds & co|--mem=2G|-q|extract|--shard|auto/8|--manifest|birds.csv|--out|"+odd+"|\n"+
			"sbatch|--dependency=afterok:101|--kill-on-invalid-dep=yes|--account=birds & co|--mem=2G|join|"+odd+"|\n",
			string(calls)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// The manifests are YAML: an Indexed Job whose pods make the parts, and a Job that waits and joins.
func TestKubernetes(t *testing.T) {
	text, err := WriteKubernetes(extraction(), Options{Tasks: 8, Image: "i: x", Claim: "birds"})
	if err != nil {
		t.Fatal(err)
	}
	documents := strings.Split(text, "\n---\n")
	if len(documents) != 3 {
		t.Fatalf("found %d documents", len(documents))
	}
	out := strings.ReplaceAll(odd, "$(", "$$(")
	for i, want := range [][]string{
		{"-q", "extract", "--shard", "auto/8", "--manifest", "birds.csv", "--out", out}, {"join", out},
	} {
		var job struct {
			Metadata struct{ Name string }
			Spec     struct {
				Completions int
				Template    struct {
					Spec struct {
						InitContainers []struct{ Command []string } `yaml:"initContainers"`
						Containers     []struct {
							Args         []string
							Image        string
							VolumeMounts []struct{ Name string } `yaml:"volumeMounts"`
						}
						Volumes []struct{ Name string }
					}
				}
			}
		}
		if err := yaml.Unmarshal([]byte(documents[i+1]), &job); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		pod := job.Spec.Template.Spec
		if diff := cmp.Diff(want, pod.Containers[0].Args); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if c := pod.Containers[0]; c.Image != "i: x" || len(c.VolumeMounts) != 1 || len(pod.Volumes) != 1 ||
			job.Spec.Completions != 8*(1-i) || len(pod.InitContainers) != i ||
			job.Metadata.Name != "winnow-it-s-a-100-home-x-1"+strings.Repeat("-join", i) {
			t.Errorf("found %+v in\n%s", job, text)
		}
	}
}

func TestMisuse(t *testing.T) {
	for name, change := range map[string]func(*Command, *Options){
		"a command without --shard":  func(c *Command, _ *Options) { c.Known = nil },
		"a shard":                    func(c *Command, _ *Options) { c.Flags["shard"] = "1/2" },
		"no --out":                   func(c *Command, _ *Options) { delete(c.Flags, "out") },
		"no tasks":                   func(_ *Command, o *Options) { o.Tasks = 0 },
		"too many tasks":             func(_ *Command, o *Options) { o.Tasks = 1 << 20 },
		"a line feed in a word":      func(c *Command, _ *Options) { c.Words = append(c.Words, "a\nEND\nb") },
		"a line feed for the engine": func(_ *Command, o *Options) { o.Sbatch = []string{"a\nb"} },
	} {
		c, o := extraction(), Options{Tasks: 2, Image: "i", Claim: "c"}
		change(&c, &o)
		if _, err := WriteSlurm(c, o); err == nil {
			t.Errorf("Slurm: no error for %s", name)
		}
		if _, err := WriteKubernetes(c, o); err == nil {
			t.Errorf("Kubernetes: no error for %s", name)
		}
	}
	if _, err := WriteKubernetes(extraction(), Options{Tasks: 2}); err == nil {
		t.Error("no error without an image")
	}
}
