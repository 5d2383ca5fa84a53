package audit

import (
	"fmt"
	"strings"

	"winnow/audit"
	"winnow/audit/judges"
	"winnow/filters"
	"winnow/run/auditing"
	"winnow/train/samples"
)

// description returns the command's long help.
func description() string {
	return "Without a run, --labels (or --manifest) and --features name what is judged: the stored features of the training images,\n" +
		"whitened, by --scorer " + judges.Default + ". Every score leaves its own image out. Beside the suspects it looks for images that\n" +
		"fit no class, near copies with different labels, and classes that look like one or like two, and --clean writes a\n" +
		"manifest without the suspects or with the labels suggested; rows that are not for training stay as they are.\n\n" +
		"   winnow audit --features features --labels noisy.csv --out suspects.csv --classes classes.csv\n" +
		"   winnow audit --features features --labels noisy.csv --clean clean.csv --drop --precision 0.9\n" +
		"   winnow audit --features features --labels noisy.csv --scorer crossfit\n\n" +
		"The cleaned manifest is the one that was read, in its own form, with all its columns: rows are left out and labels\n" +
		"replaced, nothing else. Of a folder of images a CSV manifest is made.\n\n" +
		"Scorers:\n\n" + scorerHelp() + "\n\n" +
		"Of a run, scores are those of the run's filter (P_clean: 0 surely wrong, 1 surely right), each image left out of its\n" +
		"own judgement; ProxySim judges by the run's last state, whose proxies are in its checkpoint. Of a run that weighed\n" +
		"its samples (selfpaced) the scores are the final weights, 0 to 1; images of equal weight, as many are 0 or 1, are\n" +
		"ranked by how far their losses ξ⁺+ξ⁻ lie above the mean of their class; those of weight 0 are called\n" +
		"wrong unless --noise-rate says how many; labels are then suggested by vmf. Where the manifest knows true labels, the\n" +
		"detection is measured too. The noise rate, the classes, outliers and copies are those of the stored features, whitened,\n" +
		"which have not learnt the labels.\n\n" + probabilityHelp() + "\n\n" + columnHelp
}

const crossfitHelp = "heads trained on the spot, each on the other folds' labels that look right; no run, minutes"

// scorerHelp lists the scorers for the command's help.
func scorerHelp() string {
	var out strings.Builder
	for _, j := range judges.Catalog {
		fmt.Fprintf(&out, "   %-13s  %s\n", j.Name, j.Help)
	}
	fmt.Fprintf(&out, "   %-13s  %s\n", audit.Crossfit, crossfitHelp)
	for _, e := range filters.Catalog {
		if e.NeedsBank {
			fmt.Fprintf(&out, "   %-13s  %s of %s, eq. %s\n", e.Name, e.Title, e.Paper, e.Equation)
		}
	}
	fmt.Fprintf(&out, "   %-13s  the final weights of a run that weighed its samples\n", auditing.SelfPaced)
	out.WriteString(trainingHelp())
	return out.String()
}

// probabilityHelp says for the command's help which scores mean a probability.
func probabilityHelp() string {
	var yes, no []string
	for _, name := range auditing.Scorers() {
		if audit.Probability(name) {
			yes = append(yes, name)
		} else {
			no = append(no, name)
		}
	}
	return "Scores of " + strings.Join(yes, ", ") + "\nare probabilities that a label is right. Those of " +
		strings.Join(no, ", ") + "\nonly rank labels: --precision does not take them, and suggested_probability stays empty unless another scorer\nsuggests the labels, as vmf does for selfpaced and for what a training saw."
}

// columnHelp says what stands in the file of --out; the names are those of winnow/audit/suspects.
const columnHelp = "Columns of --out: rank, path, given_label, suggested_label (the given one where none fits better), score (of the given\n" +
	"label), suggested_score (of that label), suggested_probability (where the scorer gives probabilities), dropped\n" +
	"(called wrong), true_label (where known), nearest_with_given_label, nearest_with_suggested_label (images that speak for\n" +
	"either, nearest first), fit (to the best class, in deviations from other images'), outlier, copies_with_other_labels;\n" +
	"lists of paths are joined by |, a | in a path is written \\|, and what belongs to them (_similarity, _label) stands in\n" +
	"columns behind.\n\n" +
	"Columns of --classes: class, images, kappa (concentration, corrected for the number of images), purity (estimated share\n" +
	"of right labels, with its interval of 95 %), most_like (the class hardest to tell from it), likeness (0: apart, 1: a\n" +
	"coin could tell no worse), looks_like_the_same (one class under two names), sides_alike (how like each other its two\n" +
	"sides are, 1: one group), looks_like_two (two classes under one name)."

// trainingHelp lists them for the command's help.
func trainingHelp() string {
	var lines []string
	for _, name := range samples.Rankings {
		lines = append(lines, fmt.Sprintf("   %-13s  %s", name, auditing.Meanings[name]))
	}
	return strings.Join(lines, "\n")
}
