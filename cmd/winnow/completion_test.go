package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"winnow/cmd/winnow/manual"
	"winnow/cmd/winnow/term"
)

// completions are the completions of the last word of command lines.
var completions = map[string]string{
	"winnow tr":                "train",
	"winnow data ":             "import check corrupt topline join glyphs",
	"winnow data im":           "import",
	"winnow --threads 2 -q ex": "extract export",
	"winnow train --fil":       "--filter",
	"winnow train --filter ": "vmf avgsim proxysim sub_center batch_positive " +
		"memory_positive knn none",
	"winnow train --filter=me":          "--filter=memory_positive",
	"winnow train --loss contrastive:":  "contrastive:bank",
	"winnow train --loss=contrastive:b": "--loss=contrastive:bank",
	"winnow train --loss soft_":         "soft_triple",
	"winnow sweep --filter me":          "memory_positive",
	"winnow train --method co-":         "co-teaching co-teaching-plus co-teaching-temperature",
	"winnow train --recipe prism/mcl-v": "prism/mcl-vmf prism/mcl-vmf-fixed prism/mcl-vmf-released " +
		"prism/mcl-vmf-trm prism/mcl-vmf-whole",
	"winnow train --finetune a":                        "all",
	"winnow train --augment fl":                        "flip",
	"winnow train --screen fit":                        "fitted",
	"winnow train --init w":                            "whiten",
	"winnow train --dev":                               "--device",
	"winnow train --device c":                          "cpu cuda",
	"winnow eval run --metrics clus":                   "clustering",
	"winnow eval run --metrics retrieval,noi":          "retrieval,noise-detection",
	"winnow eval run --fit g":                          "gallery",
	"winnow eval run --split v":                        "validation",
	"winnow eval run --view ":                          "center mean",
	"winnow extract --model glyph":                     "glyphnet",
	"winnow extract --preset dino":                     "dinov2",
	"winnow extract --dtype float1":                    "float16",
	"winnow extract --decoder f":                       "fast",
	"winnow extract --resize s":                        "squash short",
	"winnow models get mobile":                         "mobilenetv2-7",
	"winnow models new x --arch lenet":                 "lenet lenet5",
	"winnow models add f --channels B":                 "BGR",
	"winnow models add f --interpolation l":            "lanczos",
	"winnow data import --preset cub":                  "cub200",
	"winnow data import --format lab":                  "labelstudio",
	"winnow data import --by c":                        "class",
	"winnow data import --human w":                     "worse",
	"winnow data import --protocol h":                  "half",
	"winnow data corrupt a.csv --noise sma":            "small-cluster",
	"winnow data corrupt a.csv --count p":              "per-class",
	"winnow audit photos --scorer self":                "self-confidence selfpaced",
	"winnow audit photos --model glyphnet,googlenet-b": "glyphnet,googlenet-bvlc",
	"winnow review s.csv --format fi":                  "fiftyone",
	"winnow map run --color sp":                        "split",
	"winnow map run --method p":                        "pca",
	"winnow retrieve run --choose w":                   "worst",
	"winnow noise --method l":                          "likelihood",
	"winnow losses proxy_a":                            "proxy_anchor",
	"winnow metrics ret":                               "retrieval",
	"winnow recipes bspml/bspml":                       "bspml/bspml",
	"winnow reproduce prism-table1":                    "prism-table1",
	"winnow help for":                                  "formats",
	"winnow help tr":                                   "train",
	"winnow completion z":                              "zsh",
	"winnow --cudnn-search e":                          "exhaustive",
	"winnow train --manifest some":                     "some.csv",
	"winnow train --features sto":                      "store",
	"winnow eval some":                                 "some.csv",
	"winnow eval --manifest=some":                      "--manifest=some.csv",
	"winnow eval -- some":                              "some.csv",
	"winnow train --nix":                               "",
	"winnow nix":                                       "",
	"winnow train --dim 5":                             "",
}

// completed returns the completions that the program prints; shells complete files themselves.
func completed(line string) []string {
	var b bytes.Buffer
	if err := manual.Complete(term.NewApp(commands(), &b, io.Discard), strings.Split(line, " ")[1:]); err != nil {
		panic(err)
	}
	var list []string
	for text := range strings.Lines(b.String()) {
		text, _, _ = strings.Cut(strings.TrimSuffix(text, "\n"), "\t")
		list = append(list, text)
	}
	return list
}

func TestComplete(t *testing.T) {
	t.Setenv("WINNOW_MODELS", filepath.Join(t.TempDir(), "models.json"))
	for line, want := range completions {
		got := slices.DeleteFunc(completed(line), func(text string) bool { return text[0] == ':' })
		if strings.Contains(want, "some.csv") || want == "store" {
			want = ""
		}
		if !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: found %q, expected %q", line, got, want)
		}
	}
	for line, want := range map[string]string{
		"winnow train --manifest ":   ":files",
		"winnow train --features a":  ":folders",
		"winnow eval ":               ":files",
		"winnow eval run -- --fi":    ":files",
		"winnow review s.csv --run ": ":folders",
	} {
		if got := completed(line); !slices.Equal(got, []string{want}) {
			t.Errorf("%q: found %q, expected %q", line, got, want)
		}
	}
	fails(t, 2, "bash, zsh, fish", "completion", "tcsh")
}

// TestCompletionScripts completes command lines in real shells.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, each := range []string{"bin", "store"} {
		if err := os.Mkdir(filepath.Join(dir, each), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(dir, "bin", "winnow"), fmt.Sprintf("#!/bin/sh\nWINNOW_TEST_PROGRAM=yes exec %q \"$@\"\n",
		self))
	if err := os.Chmod(filepath.Join(dir, "bin", "winnow"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "some.csv"), "")
	write(t, filepath.Join(dir, "store", "store.json"), "")
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("WINNOW_MODELS", filepath.Join(dir, "models.json"))
	t.Setenv("HOME", dir)
	t.Setenv("TERM", "dumb")
	lines := []string{"winnow tr", "winnow data ", "winnow train --filter=me", "winnow train --filter ",
		"winnow train --loss contrastive:", "winnow train --loss=contrastive:b",
		"winnow eval run --metrics retrieval,noi", "winnow train --manifest some", "winnow eval --manifest=some",
		"winnow train --features sto", "winnow train --dim 5"}
	for _, sh := range []string{"bash", "zsh", "fish"} {
		t.Run(sh, func(t *testing.T) {
			path, err := exec.LookPath(sh)
			if err != nil {
				t.Skipf("%s is not installed: its completion was NOT tested", sh)
			}
			script, _ := mustCall(t, "completion", sh)
			write(t, filepath.Join(dir, "script."+sh), script)
			for i, line := range lines {
				if sh == "zsh" && i%3 != 0 { // a second for each line
					continue
				}
				got := pressTab(t, path, sh, dir, line)
				want := strings.Fields(completions[line])
				if sh == "zsh" {
					want = want[:min(1, len(want))]
				}
				if slices.Sort(want); !slices.Equal(got, want) {
					t.Errorf("%q: found %q, expected %q", line, got, want)
				}
			}
		})
	}
}

// pressTab returns the completions of the last word of a command line in a shell, sorted.
func pressTab(t *testing.T, path, sh, dir, line string) []string {
	t.Helper()
	var program string
	switch sh {
	case "bash": // words as readline splits them; prints the whole word, not only what is inserted
		program = `source script.bash; line=$1
COMP_LINE=$line; COMP_POINT=${#line}
mapfile -t COMP_WORDS < <(grep -oE '[=:]|[^=: ]+' <<<"$line")
[[ $line == *' ' ]] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_winnow winnow
last=${COMP_WORDS[COMP_CWORD]}; [[ $last == [=:] ]] && last=
whole=${line##* }
for each in "${COMPREPLY[@]}"; do echo "${whole%"$last"}$each"; done`
	case "fish":
		program = `source script.fish
complete -C $argv[1] | string replace -r '\t.*' '' | string replace -r '/$' ''; true`
	case "zsh":
		program = zshTyping
	}
	args := []string{"-c", program, "typing", line}
	if sh == "fish" {
		args = []string{"--no-config", "-c", program, line}
	}
	if sh == "zsh" {
		args = append([]string{"-f"}, args...)
	}
	command := exec.CommandContext(t.Context(), path, args...)
	command.Dir = dir
	var stderr bytes.Buffer
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil && len(out) > 0 {
		t.Fatalf("%q: %v\n%s%s", line, err, out, &stderr)
	}
	if stderr.Len() > 0 {
		t.Errorf("%q: %s", line, &stderr)
	}
	found := strings.Fields(string(out))
	slices.Sort(found)
	return found
}

// zshTyping types into a zsh in a pseudoterminal, where a key completes the line, by its first candidate, and writes it
// into a file.
const zshTyping = `zmodload zsh/zpty
zpty inner "zsh -f -i"
zpty -w inner 'PS1= PROMPT2= ; setopt no_beep menu_complete; autoload -Uz compinit; compinit -u -d $PWD/dump
source ./script.zsh
say() { zle expand-or-complete; print -rn -- "$BUFFER" >typed; exit }; zle -N say; bindkey "^X" say; print REA""DY'
while zpty -r inner chunk; do [[ $chunk == *READY$'\r'* ]] && break; done
zpty -w -n inner "$1"$'\x18'
while zpty -r inner chunk; do :; done
zpty -d inner
line=$(<typed); [[ $line == $1 ]] || { line=${line% }; print -r -- ${${line##* }%/} }`
