package render

// svgTemplate prints a picture. Colours never speak alone: every marked CPU has
// a letter, isolated ones a dashed edge, offline ones a stroke through them.
const svgTemplate = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" role="img" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">
<title>{{if .Title}}{{text .Title}}{{else}}{{text .Name}}{{end}}</title>
<style>
text { fill: #1f2933; font-size: 11px; }
.heading { font-size: 13px; font-weight: bold; }
.device { font-size: 10px; fill: #52606d; }
.id { text-anchor: middle; font-size: 11px; }
.label { text-anchor: middle; font-size: 9px; fill: #3e4c59; }
.large { font-size: 13px; }
.ground { fill: #ffffff; }
.machine { fill: #ffffff; stroke: #9aa5b1; }
.package { fill: #eef1f4; stroke: #7b8794; }
.numa { fill: #dfebf7; stroke: #6b93bd; }
.die { fill: #f5f0e6; stroke: #b8a37a; }
.cache { fill: #f7f9fb; stroke: #a3b4c6; }
.core { fill: #ffffff; stroke: #c3ccd5; }
.offline { fill: #e4e7eb; stroke: #9aa5b1; stroke-dasharray: 3 2; }
.efficiency { stroke-dasharray: 1 2; stroke: #52606d; }
.unmarked { fill: #ffffff; stroke: #b8c2cc; }
.reserved { fill: #ffcf8f; stroke: #c77d0a; }
.shared { fill: #d5f0d3; stroke: #6fa96b; }
.isolated { fill: #f3f3c8; stroke: #8f8f3d; }
.isolated-cpu { stroke: #1f2933; stroke-width: 1.6; stroke-dasharray: 3 2; }
.owner0 { fill: #a9d2fb; stroke: #3f7fc1; } .owner1 { fill: #d9c3f7; stroke: #8357c5; }
.owner2 { fill: #fbbfd3; stroke: #c04a79; } .owner3 { fill: #9fe3ea; stroke: #2b8f99; }
.owner4 { fill: #e9b8ee; stroke: #a345ad; } .owner5 { fill: #b9c5ff; stroke: #5465c4; }
.owner6 { fill: #ffc0b8; stroke: #c25446; } .owner7 { fill: #b6f0dc; stroke: #3a9776; }
.owner8 { fill: #fff0a3; stroke: #b09a1e; } .owner9 { fill: #d8d3c9; stroke: #857a66; }
.cross { stroke: #7b8794; }
@media (prefers-color-scheme: dark) {
text { fill: #e4e7eb; }
.device, .label { fill: #b8c2cc; }
.ground { fill: #12171c; }
.machine { fill: #12171c; stroke: #52606d; }
.package { fill: #1c242c; stroke: #616e7c; }
.numa { fill: #1d2e40; stroke: #4d7299; }
.die { fill: #2c281f; stroke: #7d6f52; }
.cache { fill: #202a33; stroke: #52657a; }
.core { fill: #161d24; stroke: #3e4c59; }
.offline { fill: #2a3138; stroke: #616e7c; }
.efficiency { stroke: #9aa5b1; }
.unmarked { fill: #161d24; stroke: #52606d; }
.reserved { fill: #7a4b06; stroke: #e0a04a; }
.shared { fill: #23482a; stroke: #6fa96b; }
.isolated { fill: #45451b; stroke: #a8a85a; }
.isolated-cpu { stroke: #e4e7eb; }
.owner0 { fill: #1c4a78; stroke: #6aa5df; } .owner1 { fill: #4a2f75; stroke: #a98be0; }
.owner2 { fill: #6f2444; stroke: #de7ea4; } .owner3 { fill: #14555c; stroke: #57bcc6; }
.owner4 { fill: #5f2466; stroke: #cc7bd4; } .owner5 { fill: #2f3a80; stroke: #8c9bea; }
.owner6 { fill: #732d24; stroke: #e08b7f; } .owner7 { fill: #1c5a45; stroke: #6bc4a4; }
.owner8 { fill: #5f5410; stroke: #d6c255; } .owner9 { fill: #46413a; stroke: #a89d88; }
.cross { stroke: #9aa5b1; }
}
</style>
<rect class="ground" width="{{.Width}}" height="{{.Height}}"/>
{{- if .Title}}
<text class="heading" x="6" y="19">{{text .Title}}</text>
{{- end}}
{{- range .Boxes}}
<rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.W}}" height="{{.H}}" rx="3"/>
{{- if .Title}}<text x="{{.X}}" y="{{.Y}}" dx="6" dy="13">{{text .Title}}</text>{{end}}
{{- range .Devices}}<text class="device" x="{{.X}}" y="{{.Y}}">{{text .Text}}</text>{{end}}
{{- end}}
{{- range .CPUs}}
<g><title>{{text .Note}}</title><rect class="{{.Class}}" x="{{.X}}" y="{{.Y}}" width="{{.W}}" height="{{.H}}" rx="2"/>
{{- if .Crossed}}<path class="cross" d="M{{.X}} {{.Y}}l{{.W}} {{.H}}"/>{{end}}
{{- if .Label}}<text class="id{{if .Large}} large{{end}}" x="{{.TextX}}" y="{{.IDY}}">{{.ID}}</text><text class="label" x="{{.TextX}}" y="{{.LabelY}}">{{text .Label}}</text>
{{- else}}<text class="id{{if .Large}} large{{end}}" x="{{.TextX}}" y="{{.IDY}}" dy="5">{{.ID}}</text>{{end}}</g>
{{- end}}
{{- if .Legend}}
<g transform="translate(6 {{.LegendTop}})">
{{- range .Legend}}
<rect class="{{.Class}}" y="{{.Y}}" width="22" height="15" rx="2"/><text class="label" x="11" y="{{.Y}}" dy="11">{{.Letter}}</text><text x="30" y="{{.Y}}" dy="12">{{text .Text}}</text>
{{- end}}
</g>
{{- end}}
</svg>
`
