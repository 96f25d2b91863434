package render

// Color is an ANSI colour of a word that also says the same without it.
type Color string

// The colours in use: bad, doubtful, good, and beside the point.
const (
	Red    Color = "31"
	Yellow Color = "33"
	Green  Color = "32"
	Faint  Color = "2"
	Bold   Color = "1"
)

// Paint colours text where the style allows colour.
func (s Style) Paint(c Color, text string) string {
	if !s.Color || text == "" {
		return text
	}
	return "\x1b[" + string(c) + "m" + text + "\x1b[0m"
}
