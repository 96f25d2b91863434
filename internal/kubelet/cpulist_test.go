package kubelet

import "testing"

func TestParseCPUs(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want, wantErr string }{
		{text: "", want: ""},
		{text: "3,0-1,2", want: "0-3"},
		{text: "0-65535", want: "0-65535"},
		{text: "0-4000000000", wantErr: "CPU 4000000000 is on no machine: the highest number is 65535"},
		{text: "99999999999999999999", wantErr: "CPU 99999999999999999999 is on no machine: the highest number is 65535"},
		{text: "x", wantErr: `strconv.Atoi: parsing "x": invalid syntax`},
		{text: "3-1", wantErr: "invalid range \"3-1\" (3 > 1)"},
	}
	for _, test := range tests {
		got, err := ParseCPUs(test.text)
		if test.wantErr != "" {
			if err == nil || err.Error() != test.wantErr {
				t.Errorf("%q: error %v, want %q", test.text, err, test.wantErr)
			}
			continue
		}
		if err != nil || got.String() != test.want {
			t.Errorf("%q: got %q, error %v; want %q", test.text, got, err, test.want)
		}
	}
}
