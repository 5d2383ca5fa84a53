package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"winnow/datasets"
	"winnow/features"
	"winnow/head"
	"winnow/internal/config"
	"winnow/train"
)

func trainCommand() *cli.Command {
	return &cli.Command{
		Name:  "train",
		Usage: "train a head on stored features and labels that may be wrong",
		Description: "Trains on the manifest's split train; the split validation, if there is one, chooses the best state. Images\n" +
			"and features are joined by path. Everything goes into the run's folder: head.winnow (the best head),\n" +
			"last.winnow, config.yaml (every setting as it was used), run.json, result.json, metrics.jsonl, TensorBoard\n" +
			"events, and checkpoint.winnow, from which --resume goes on to the same bits as a run never stopped.\n\n" +
			"Settings: defaults, then --config, then --set, then the other flags; --set losses.N… is about the losses that\n" +
			"--loss names. 'winnow train --defaults' prints them.\n\n" +
			"   winnow train --manifest birds.csv --features birds.features --noise-rate 0.3 --out runs/birds\n" +
			"   winnow train --manifest birds.csv --features birds.features --loss soft_triple --filter proxysim --out runs/birds2",
		Flags:  showDefaults(trainFlags, config.Default()),
		Action: runTrain,
	}
}

var trainFlags = []cli.Flag{
	&cli.StringFlag{Name: "manifest", Usage: "manifest `FILE`, or image folder"},
	&cli.StringFlag{Name: "root", Usage: "`DIR` that the manifest's paths start from (kept for the other commands)"},
	&cli.StringFlag{Name: "features", Usage: "feature store `DIR` of winnow extract"},
	&cli.StringFlag{Name: "out", Aliases: []string{"o"}, Usage: "run folder `DIR`"},
	&cli.StringFlag{Name: "config", Usage: "settings, YAML `FILE`; with --resume the run's own by default"},
	&cli.StringSliceFlag{Name: "set", Usage: "one setting, `KEY=VALUE`: solver.name=sgd, losses.0.weight=2, schedule.warm_up=\"1 epoch\""},
	&cli.StringSliceFlag{Name: "loss", Usage: "`NAME` of a loss, or NAME:bank for against the memory bank; may be repeated"},
	&cli.StringFlag{Name: "filter", Usage: "`NAME` of the filter's scorer, or none"},
	&cli.Float64Flag{Name: "noise-rate", Usage: "share `P` of the labels thought to be wrong: the filter drops as many"},
	&cli.IntFlag{Name: "dim", Usage: "dimension `N` of the embedding"},
	&cli.StringFlag{Name: "hidden", Usage: "widths of the head's hidden layers, `N,...`, or none for a linear head"},
	&cli.StringFlag{Name: "init", Usage: "start of the head: whiten or random"},
	&cli.Float64Flag{Name: "epochs", Usage: "length `N` of the training in epochs"},
	&cli.IntFlag{Name: "steps", Usage: "length `N` of the training in steps"},
	&cli.StringFlag{Name: "batch", Usage: "`PxK`: classes and images of each in a batch, for example 16x4"},
	&cli.Float64Flag{Name: "lr", Usage: "learning rate of the head"},
	&cli.Uint64Flag{Name: "seed", Usage: "seed of everything that is drawn"},
	&cli.BoolFlag{Name: "resume", Usage: "go on where the run in --out was stopped"},
	&cli.BoolFlag{Name: "overwrite", Usage: "throw away the run in --out"},
	&cli.BoolFlag{Name: "defaults", Usage: "print the settings that would be used, and stop"},
	&cli.BoolFlag{Name: "json", Usage: "print the result as JSON"},
}

func runTrain(c *cli.Context) error {
	if c.Args().Present() {
		return misused("winnow train takes flags only, found %q", c.Args().First())
	}
	cfg, err := trainConfig(c)
	if err != nil {
		return err
	}
	if c.Bool("defaults") {
		text, err := config.Marshal(cfg)
		if err == nil {
			_, err = c.App.Writer.Write(text)
		}
		return err
	}
	for _, needed := range [][2]string{{"manifest", cfg.Data.Manifest}, {"features", cfg.Data.Features}, {"out", c.String("out")}} {
		if needed[1] == "" {
			return misused("--%s is missing", needed[0])
		}
	}
	if c.Bool("resume") && c.Bool("overwrite") {
		return misused("--resume and --overwrite contradict each other")
	}
	data, err := loadTrainData(cfg.Data)
	if err != nil {
		return err
	}
	rt, err := openRuntime(c)
	if err != nil {
		return err
	}
	dir := c.String("out")
	if err := prepareRunFolder(dir, c.Bool("resume"), c.Bool("overwrite")); err != nil {
		return err
	}
	run := trainCommandRun{c: c, dir: dir, cfg: cfg, data: data, runtime: rt.Version(), start: time.Now()}
	return run.do()
}

// loadTrainData reads manifest and features and joins them.
func loadTrainData(from config.Data) (trainData, error) {
	d, err := datasets.Read(from.Manifest, datasets.ReadOptions{})
	if err != nil {
		return trainData{}, err
	}
	store, err := features.Open(from.Features)
	if err != nil {
		return trainData{}, withHint(err, "make the features first: winnow extract")
	}
	if err := store.Verify(); err != nil {
		return trainData{}, withHint(err, "make the features again: winnow extract --overwrite")
	}
	return joinTrainData(d, store)
}

// runFiles are the names of what a run writes; event files carry a time in theirs.
var runFiles = []string{configFile, runFile, resultFile, bestHeadFile, lastHeadFile, train.MetricsFile, train.CheckpointFile}

// runsIn lists the files of a run that are in a folder.
func runsIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("train: %w", err)
	}
	var names []string
	for _, e := range entries {
		if slices.Contains(runFiles, e.Name()) || strings.HasPrefix(e.Name(), "events.out.tfevents.") {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// prepareRunFolder makes the folder, and sees that no earlier run is lost by accident.
func prepareRunFolder(dir string, resume, overwrite bool) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	names, err := runsIn(dir)
	if err != nil || len(names) == 0 || resume || overwrite {
		return err
	}
	return withHint(fmt.Errorf("train: %s: there is a run in this folder already (%s)", dir, names[0]),
		"go on with it: --resume; throw it away: --overwrite; or choose another --out")
}

// clearRunFolder removes the files of a run, and nothing else.
func clearRunFolder(dir string) error {
	names, err := runsIn(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("train: %w", err)
		}
	}
	return nil
}

// explainTrainFailure adds what the person can do about a run in dir that stopped.
func explainTrainFailure(err error, data trainData, dir string) error {
	advice := "a smaller --lr or --set clip=1 may help"
	if _, missing := os.Stat(filepath.Join(dir, bestHeadFile)); missing == nil {
		advice = bestHeadFile + " is the best before; " + advice
	}
	var bad *train.NonFinite
	if errors.As(err, &bad) {
		names := make([]string, 0, 3)
		for _, id := range bad.IDs[:min(len(bad.IDs), cap(names))] {
			names = append(names, data.Paths[id])
		}
		return withHint(err, "images: %s; %s", strings.Join(names, ", "), advice)
	}
	var lost *head.NotFinite
	if errors.As(err, &lost) {
		return withHint(err, "the weights left the numbers: %s", advice)
	}
	var broken *train.CheckpointError
	if errors.As(err, &broken) {
		return withHint(err, "put back a copy of it if there is one, or begin anew with --overwrite")
	}
	var other *train.OtherRunError
	if errors.As(err, &other) {
		return withHint(err, "give the settings of the run, or begin anew with --overwrite")
	}
	return err
}
