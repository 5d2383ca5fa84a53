package inspect

import (
	"fmt"
	"strings"

	"winnow/audit"
	"winnow/audit/judges"
)

// Help is the long help of the command that audits.
func Help() string {
	return "   winnow audit photos        # a folder with a folder for each class, a .zip file of one, or a manifest\n\n" +
		"looks at every image by an installed backbone, judges every label, whatever the image's split, prints what was found,\n" +
		"and writes suspects.csv, a page to look at, suspects.html, and the images' features, suspects.features, which the next\n" +
		"audit of the same images uses again: all beside --out.\n\n" +
		"Ctrl-C in between loses nothing. Without --model the backbone is\n" +
		"the one added last under a name of its own (winnow models add), else the best known of those installed, as it is printed;\n" +
		"drawn characters are looked at by glyphnet. Of images that were added or changed since, only these are looked at.\n" +
		"--model A,B looks by several backbones, each with a store of its own, and says how much each counts.\n" +
		"Near copies among more than 10,000 images are found with a probability of 95 % for each pair at the bound (--copies).\n" +
		"winnow review goes on with what was found; --clean mends all splits, or those of --split.\n\n" +
		"Without images and a run, --labels (or --manifest) and --features name what is judged: the stored features of the training images,\n" +
		"whitened, by --scorer " + judges.Default + ". Every score leaves its own image out. Beside the suspects it looks for images that\n" +
		"fit no class, near copies with different labels, and classes that look like one or like two, and --clean writes a\n" +
		"manifest without the suspects or with the labels suggested; rows that are not for training stay as they are.\n\n" +
		"   winnow audit --features features --labels noisy.csv --out suspects.csv --classes classes.csv\n" +
		"   winnow audit --features features --labels noisy.csv --clean clean.csv --drop --precision 0.9\n" +
		"   winnow audit --features features --labels noisy.csv --scorer fitted    # seconds, without training\n" +
		"   winnow audit --probs predicted.npy --labels noisy.csv --out suspects.csv\n\n" + ProbsHelp + TuningHelp + SampleHelp +
		"The cleaned manifest is the one that was read, in its own form, with all its columns: rows are left out and labels\n" +
		"replaced, nothing else. Of a folder of images a CSV manifest is made.\n\n" +
		"Scorers:\n\n" + scorerHelp() + "\n\n" +
		"Of a run, scores are those of the run's filter (P_clean: 0 surely wrong, 1 surely right), each image left out of its\n" +
		"own judgement; ProxySim and sub_center judge by the run's last state, whose proxies are in its checkpoint. Of a run\n" +
		"that weighed its samples (selfpaced) the scores are the final weights, 0 to 1; images of equal weight, as many are 0 or 1,\n" +
		"are ranked by how far their losses ξ⁺+ξ⁻ lie above the mean of their class; those of weight 0 are called\n" +
		"wrong unless --noise-rate says how many; labels are then suggested by vmf. Where the manifest knows true labels, the\n" +
		"detection is measured too. The noise rate, the classes, outliers and copies are those of the stored features, whitened,\n" +
		"which have not learnt the labels.\n\n" + ProbabilityHelp() + "\n\n" + ColumnHelp
}

// scorerHelp lists the scorers for a command's help.
func scorerHelp() string {
	var lines []string
	for _, name := range Scorers() {
		lines = append(lines, fmt.Sprintf("   %-15s  %s", name, audit.Named(name).Help))
	}
	return strings.Join(lines, "\n")
}

// ProbabilityHelp says for a command's help which scores mean a probability.
func ProbabilityHelp() string {
	var yes, no []string
	for _, name := range Scorers() {
		if audit.Named(name).Probability {
			yes = append(yes, name)
		} else {
			no = append(no, name)
		}
	}
	return "Scores of " + strings.Join(yes, ", ") + "\nare probabilities that a label is right. Those of " +
		strings.Join(no, ", ") + "\nonly rank labels: --precision does not take them, and suggested_probability stays empty unless another scorer\nsuggests the labels, as vmf does for selfpaced and for what a training saw."
}

// ProbsHelp says what the file of --probs may hold.
const ProbsHelp = "--probs takes what any model said of the images, alone or with --features: the label's probability against those\n" +
	"of its rivals ranks, and labels that another class is more probable than are called wrong. Rows are those of --labels,\n" +
	"in its order, or named by a column path; columns are named by a header, or number the classes from 0, or are all\n" +
	"classes in alphabetical order. Labels then need no paths: a table with a column label or given_label will do.\n\n"

// TuningHelp says what networks and backbones do beside heads.
const TuningHelp = "With --finetune all, or a stage (winnow models show lists them), every fold is judged by a network, too, that was fine-tuned\n" +
	"on the other folds' labels that look right: minutes for a thousand small pictures, hours for photographs. It looks at the\n" +
	"images: of --labels with --features name their folder with --root. A fold whose left-out labels are no likelier by its network goes\n" +
	"without. Finished folds are kept beside --out (suspects.finetune) and used again. --seeds N judges by the mean of N partings\n" +
	"into folds. --features A,B looks at the images by several backbones, weighed by the likelihood of left-out labels.\n\n"

// SampleHelp says how many images are judged by few, and by several machines.
const SampleHelp = "With --fit-sample N images are judged apart from each other, by class centres and whitening of all of them and what is fitted to\n" +
	"about N, at least ten of each class (combined, centres, crossfit; no near copies, no nearest images), as by default are\n" +
	"more than a million, or a billion images × classes (0: all together). With it --shard I/N deals them\n" +
	"among machines: the first of them fits, the others wait for that, and winnow join OUT writes what one machine writes.\n\n" +
	"   winnow audit --features features --labels noisy.csv --fit-sample 100000 --shard auto --out suspects.csv\n\n"

// ColumnHelp says what stands in the file of --out; the names are those of winnow/audit/suspects.
const ColumnHelp = "Columns of --out: rank, path, given_label, suggested_label (the given one where none fits better), score (of the given\n" +
	"label), suggested_score (of that label), suggested_probability (where the scorer gives probabilities), dropped\n" +
	"(called wrong), true_label (where known), nearest_with_given_label, nearest_with_suggested_label (images that speak for\n" +
	"either, nearest first), fit (to the best class, in deviations from other images'), outlier, copies_with_other_labels,\n" +
	"given_probability (as suggested_probability), unjudged (alone in its class: its score says nothing);\n" +
	"lists of paths are joined by |, a | in a path is written \\|, and what belongs to them (_similarity, _label) stands in\n" +
	"columns behind. --spreadsheet puts a ' in front of labels and paths that begin with = + - @, which spreadsheets compute,\n" +
	"and a column spreadsheet behind: winnow review and map read them back without it.\n" +
	"--out NAME.cleanlab.csv has the columns of cleanlab's label issues behind path: is_label_issue (dropped), label_score\n" +
	"(score), given_label, suggested_label.\n\n" +
	"Columns of --classes: class, images, kappa (concentration, corrected for the number of images), purity (estimated share\n" +
	"of right labels, with its interval of 95 %), most_like (the class hardest to tell from it), likeness (0: apart, 1: a\n" +
	"coin could tell no worse), looks_like_the_same (one class under two names), sides_alike (how like each other its two\n" +
	"sides are, 1: one group), looks_like_two (two classes under one name)."
