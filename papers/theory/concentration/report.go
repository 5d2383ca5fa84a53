package concentration

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"winnow/internal/text"
	"winnow/report/chart"
)

// Result is a setting with what came of it.
type Result struct {
	Setting
	Errors []Errors `json:"errors"`
}

// CSV writes a line for each number of samples and estimator.
func (r Result) CSV(out io.Writer) error {
	w := csv.NewWriter(out)
	w.Write([]string{"samples", "estimator", "mean", "bias", "rmse", "mse", "mae"})
	for _, e := range r.Errors {
		row := []string{strconv.Itoa(e.Samples), e.Estimator}
		for _, v := range []float64{e.Mean, e.Bias, e.RMSE, e.MSE, e.MAE} {
			row = append(row, strconv.FormatFloat(v, 'g', -1, 64))
		}
		w.Write(row)
	}
	w.Flush()
	return w.Error()
}

// Text writes the errors as a table.
func (r Result) Text(out io.Writer) error {
	fmt.Fprintf(out, "true κ = %v in %d dimensions, %d classes drawn for each number of samples\n\n", r.Kappa, r.Dim, r.Trials)
	w := text.NewTable(out)
	w.Row("samples", "estimator", "mean", "bias", "RMSE", "MSE", "MAE")
	for _, e := range r.Errors {
		fmt.Fprintf(w, "%d\t%s\t%.1f\t%+.1f\t%.1f\t%.4g\t%.1f\n", e.Samples, e.Estimator, e.Mean, e.Bias, e.RMSE, e.MSE, e.MAE)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for _, e := range Estimators {
		fmt.Fprintf(out, "%-9s %s\n", e.Name, e.Title)
	}
	return nil
}

// Chart draws the paper's Fig. 4 for all estimators.
func (r Result) Chart() chart.Drawing {
	drawing := chart.Lines{Frame: chart.Frame{
		Title: fmt.Sprintf("Error of the estimates of κ = %v in %d dimensions", r.Kappa, r.Dim), Titled: true,
		X: "samples of a class", Y: "RMSE of κ", LogX: true, LogY: true,
	}}
	for i, of := range Estimators {
		line := chart.Line{Name: of.Name, Tone: i, Dots: true, Dashed: of.Name == "printed"}
		for _, e := range r.Errors {
			if e.Estimator == of.Name {
				line.X, line.Y = append(line.X, float64(e.Samples)), append(line.Y, e.RMSE)
			}
		}
		drawing.Series = append(drawing.Series, line)
	}
	return drawing
}
