"""Odd values: scalars, addresses, quantities, templates, conditions, on which parsers and rules stumble."""

from __future__ import annotations

from typing import Any


class Raw(str):
    """Text that is written into YAML as it is, without quotes."""

    __slots__ = ()


NUMBERS: tuple[Any, ...] = (
    0, 1, -1, 2, 7, 80, 100, 101, 8080, 65535, 65536, 2**31 - 1, 2**31, -(2**31), 2**53 + 1, 2**63 - 1, 2**63, 2**64,
    10**30, -(10**400), 0.1, 0.5, -0.0, 1e-9, 1e16, 1e308, 1.5, float("nan"), float("inf"), float("-inf"),
)  # fmt: skip
LOOKALIKES: tuple[Any, ...] = tuple(
    Raw(text)
    for text in (
        "2024-01-01", "2024-01-01T00:00:00Z", "2001-12-14 21:59:43.10 -5", "12:30", "12:30:45", "0x1F", "0o17", "017",
        "08", "1_000", "1e3", "1e400", ".5", "5.", "+1", "-0", "0b11", "y", "n", "yes", "No", "on", "OFF", "True", "~",
        "null", "Null", ".nan", ".inf", "-.INF", "<<", "=", "!!binary aGk=", "!!str 1", "!!int x", "!!set {a}",
        "!own x", "!!timestamp 2024-01-01", "!!float 1", "&a 1", "*a", "?", "|", ">-", "{a", "[a", "'a", '"a', "- a",
        "a: b: c", "@a", "`a`", "%a", "# a", "9223372036854775808", "-9223372036854775809", "1.7976931348623157e+309",
        "0.1e", "1__0", "1:60", "190:20:30", "2026-13-45", "2026-02-30T25:61:00Z", "0x_", "0b_", "0o_", "+0x_",
        "-_", "1e-99999", "9" * 5000, "-" + "9" * 5000, "0x" + "f" * 5000, "0" * 5000 + "1", "1." + "0" * 5000,
        "!!int 0x_", "!!null ''", "!!bool yes", "!!merge <<",
    )
)  # fmt: skip
TEXTS: tuple[Any, ...] = (
    "", " ", "\n", "\t", "a\n", "\na", "a\nb\n\n", " a ", "a\tb", "\0", "\x01", "\x1b[31m", "\x7f", "\x85", "\xa0",
    "\u2028", "\u2029", "\ufeff", "\ufffe", "\uffff", "\ud800", "\udfff\ud800", "é", "e\u0301", "ß", "İ", "\u0131", "ﬁ",
    "日本", "🚀", "\U0010ffff", "a\u202eb", "..", "../..", "/", "//", "./a", "a/../b", "/etc/passwd", "~/a", "a\\b",
    "C:\\a", "-", "--", "-a", "_", ".", ":", "a:b", "%", "%s", "%(a)s", "{0}", "{}", "$", "$(A)", "$$(A)", "${A}",
    "`id`", "'", '"', "\\", "\\n", "&a", "*a", "#", "a #b", "a: b", "- a", "true", "null", "1", "01", "1.0", "1e3",
    "0x10", "NaN", "Infinity", "::error::a", "]]>", "<a>", "&amp;", "a" * 63, "a" * 64, "a" * 253, "a" * 254, "A", "a.",
    ".a", "a..b", "a_b", "a,b", "a=b", "a;b", "a b", "*", "**", "?", "[a", "(a", "a|b", "^a$", "(a+)+$", "\\d+",
    "2026-13-45", "0x_", "0b_", "9" * 5000, "-" + "9" * 5000, "0" * 5000 + "1", "9" * 5000 + "%", "\u00b2", "\u0663",
    "a: 2026-13-45", "a: 0x_", "a: " + "9" * 5000, '{"a": ' + "9" * 5000 + "}", "[" * 3000, '{"a":' * 3000,
    "__proto__", "__class__", "constructor", "apiVersion", "kind",
)  # fmt: skip
URIS: tuple[str, ...] = (
    "s3://", "s3://b", "s3://b/", "s3://b/k", "s3:/b/k", "s3:b", "S3://b/k", "s3://b//k", "s3://b/k?versionId=1",
    "s3://b/k#f", "s3://u:p@b/k", "gs://b/k", "gs:///k", "abfs://c@a.dfs.core.windows.net/k", "hdfs://h:9000/k",
    "webhdfs://h/k", "http://h/m.tar.gz", "https://h:99999/m", "https://[::1]/m", "https://[::1/m", "https://h:x/m",
    "https://u:p@h/m.zip?token=t", "https://a.blob.core.windows.net/c/k", "https://a.blob.core.windows.net/c/k?sv=1",
    "https://a.file.core.windows.net/s/k", "hf://", "hf://o", "hf://o/m", "hf://o/m:r", "hf://o/m:", "hf://o/m/x/y",
    "hf://o/m@r", "pvc://", "pvc:///", "pvc://c", "pvc://c/", "pvc://c/d", "pvc://c/../d", "pvc://C_/d", "pvc://c//d",
    "pvc+host://c/d", "oci://", "oci://i", "oci://r/i:t", "oci://r/i@sha256:0", "oci+native://r/i:1", "oci+x://r/i",
    "file:///m", "file://m", "/mnt/models", "mnt/models", "://", "://b", "a://b", "s3 ://b", "s3://b/\n", "s3://b/é",
    "s3://b/k k", "s3://b/{{.Name}}", "s3://$(A)/k", "ftp://h/m", "git://h/m", "data:,a", "s3://b/" + "k/" * 300,
    "//b/k", "s3://b/%2e%2e/k", "s3://b/%zz", "https://xn--a/m", "https://ex\u0430mple.com/m", "HTTPS://H/M", "hf:///m",
    "https://h/m?" + "a=b&" * 100, "git+https://h/r", "custom://x", "s3://b/k,gs://b/k",
)  # fmt: skip
QUANTITIES: tuple[Any, ...] = (
    "1", "0", "-1", "100m", "0.5", ".5", "5.", "1Gi", "1GI", "1gi", "1G", "1k", "1K", "1Ki", "1e3", "1E3", "1e", "1E",
    "1Ei", "10Ei", "1e-3", "1n", "1u", "0.0001m", "1.5Gi", "1.0000000001", "+1", "--1", "1 Gi", " 1", "1i", "1m1", "",
    "Gi", "9223372036854775807", "9223372036854775808", "1e18", "1e19", "1e308", "1e99999", "-0", "0x1", "1_0", "inf",
    "NaN", "1Mi", "1024", "٣", "1.", "999999999999999999999999999", "9" * 390, "9" * 5000,
    "1e" + "9" * 5000, 1, 0, -1, 0.5, 1.5, 1e20, 10**30, True, None,
)  # fmt: skip
TEMPLATES: tuple[str, ...] = (
    "{{.Name}}", "{{ .Name }}", "{{.Namespace}}", "{{.Labels.app}}", '{{.Labels "app"}}', '{{index .Labels "app"}}',
    "{{.Annotations.a}}", "{{.IngressDomain}}", "{{", "}}", "{{}}", "{{.}}", "{{..}}", "{{.Nope}}", "{{.Name.Nope}}",
    "{{-  .Name -}}", "{{/* a */}}", "{{if .Name}}a{{end}}", "{{if .Name}}a{{else}}b{{end}}", "{{if}}", "{{end}}",
    "{{else}}", "{{range .Labels}}{{.}}{{end}}", "{{range $k, $v := .Labels}}{{$k}}{{end}}",
    "{{with .Name}}{{.}}{{end}}", '{{printf "%s" .Name}}', '{{printf "%d" .Name}}', '{{printf "%99999999d" 1}}',
    "{{len .Name}}", "{{html .Name}}", '{{define "a"}}a{{end}}{{template "a"}}',
    '{{define "a"}}{{template "a"}}{{end}}{{template "a"}}', "{{$x := 1}}{{$x}}", '{{"a" | printf "%s-%s" .Name}}',
    "{{.Name | upper}}", "{{call .Name}}", '{{eq .Name "a"}}', "{{and}}", "{{or 1 0}}", "{{not}}", "{{1}}",
    "{{1.5e3}}", "{{'a'}}", "{{`a`}}", "{{nil}}", "{{true}}", "{{(.Name)}}", "{{((.Name}}", "{{.Name", '{{"', "{{'",
    "{{`", "{{slice .Name 1 99}}", "{{index .Name 0}}", "{{index .Labels 0}}", "{{.Spec.Model.Name}}",
    "{{ .ObjectMeta.Name }}", '{{ ChildName .ObjectMeta.Name "-kserve" }}', '{{ChildName "a"}}', "{{.Spec.Replicas}}",
    "{{.GlobalConfig}}", "{{ .Spec.Parallelism.Tensor }}", "{{break}}", "{{range 3}}a{{end}}",
    "{{block \"a\" .}}{{end}}", "{{" * 40, "{{if 1}}" * 60 + "{{end}}" * 60, "{{(" * 30, "{{.a" + ".a" * 200 + "}}",
    "{{- -}}", "{{ .Name\n}}", "{{é}}", "{{\"\\u00e9\"}}", "{{\"\\xzz\"}}", "{{urlquery .Name}}", "{{js .Name}}",
    "{{print 1 2 nil}}", "{{.Name}}.{{.Namespace}}",
)  # fmt: skip
CONDITIONS: tuple[str, ...] = (
    "a", "a.b", "a.#", "a.#.b", "a.0", "a.-1", '[@this].#(a=="b")', "[@this].#(predictions==1)", "instances.#(b>1)",
    "a.#(b==1)#", "a.#(b==1)#.c", "a.#(", "a.#()", "a.#(b", "a.#(b=", "a.#(b==", 'a.#(b=="', "a.#(b%\"c*\")",
    "a.#(b!%\"*\")", "a.#(b=~1)", "a.#(b==~true)", "a|@reverse", "@reverse", "@flatten:{\"deep\":true}", "@join",
    "@dig:a", "@pretty:{\"width\":-1}", "@ugly", "@keys", "@values", "@tostr", "@fromstr", "@group", "@nope", "@",
    "@this", "{a,b}", '{"x":a}', "[a,b]", "{", "[", "}", "]", "a.{b", "a\\.b", "a\\", "a.*", "*", "?", "a*b*c*d*e",
    "*" * 50 + "a", "a..b", ".", "", "$.a", "$..a", "a[0]", "a['b']", "a == 1", "!1", '!"a"', "!true", "!",
    "a.#(b.#(c==1)#.d==2)#", "a.#(" * 40 + ")" * 40, "a|" * 200 + "a", "#", "##", "a.#(b<c)", "a.#(>1)",
    "a.#(b>=1e400)", "a.#(b=='c')", "é", "a.#(\"b\"==1)", "predictions", "a.#(@this==1)", "@this|@this|@this", "..#",
    "..0.a", "..1", "a:b", "@pretty:" + "[" * 99,
)  # fmt: skip
ADDRESSES: tuple[str, ...] = (
    "http://a", "http://a.b.svc.cluster.local", "https://a:8443/x", "http://", "http:///x", "a", "a:80", "http://a:0",
    "http://a:65536", "http://[::1]:80", "http://[", "http://u:p@a/x", "ftp://a", "http://a b", "http://a/\n",
    "HTTP://A", "http://é.example", "http://a?x=1", "http://a#f", "//a", "$response", "http://a/{{.Name}}",
    "http://-a", "http://a..b", "http://a:" + "9" * 5000,
)  # fmt: skip
DURATIONS: tuple[Any, ...] = (
    "1s",
    "1m30s",
    "-1s",
    "0",
    "1h",
    "1.5h",
    "1",
    "s",
    "1d",
    "1us",
    "1µs",
    "99999999h",
    "9" * 5000 + "s",
    "1." + "0" * 5000 + "s",
    "",
    "1 s",
    5,
    -5,
)
IMAGES: tuple[str, ...] = (
    "a", "a:1", "a:latest", "r.io/a/b:1", "r.io:5000/a", "a@sha256:" + "0" * 64, "a:1@sha256:" + "f" * 64,
    "a@sha256:0", "A/b", "a:", ":a", "a b", "a:1:2", "", "a/" * 100, "a:{{.Tag}}", "$(IMAGE)", "a:v1-gpu", "é:1",
    "a@", "https://r.io/a",
)  # fmt: skip
EXPRESSIONS: tuple[str, ...] = (
    "", ".*", "^s3://", "(a", "a)", "[a", "a**", "(a+)+$", "(a|a)*$", "(?=a)", "(?!a)", "(a)\\1", "(?i)S3", "\\d+",
    "\\pL", "[[:alpha:]]", "a{2,1}", "a{1001}", "(a{1000}){1000}", "\\z", "\\", "(?P<a>b)",
    "^(.*)(.*)(.*)(.*)(.*)(.*)x$", "\\Qa\\E", "é", "(?s).", "$^",
)  # fmt: skip
BY_KEY: tuple[tuple[str, tuple[Any, ...]], ...] = (
    ("regex", EXPRESSIONS), ("pattern", EXPRESSIONS), ("uri", URIS), ("url", ADDRESSES), ("path", (*URIS, *TEXTS)),
    ("condition", CONDITIONS), ("data", CONDITIONS), ("image", IMAGES), ("template", TEMPLATES), ("args", TEMPLATES),
    ("command", TEMPLATES), ("value", TEMPLATES), ("cpu", QUANTITIES), ("memory", QUANTITIES),
    ("storage", QUANTITIES), ("quantity", QUANTITIES), ("size", QUANTITIES), ("limit", QUANTITIES),
    ("gpu", QUANTITIES), ("seconds", DURATIONS), ("timeout", DURATIONS), ("interval", DURATIONS),
    ("duration", DURATIONS), ("domain", ADDRESSES), ("host", ADDRESSES), ("replicas", NUMBERS), ("port", NUMBERS),
    ("percent", NUMBERS), ("weight", NUMBERS),
)  # fmt: skip
"""Odd values that are nearly right for a field, by a part of its name."""
SCALARS: tuple[Any, ...] = (
    *NUMBERS,
    *LOOKALIKES,
    *TEXTS,
    True,
    False,
    None,
    [],
    {},
    [[]],
    [None],
    {"": ""},
    {"a": None},
)
EVERYTHING: tuple[tuple[Any, ...], ...] = (
    SCALARS, URIS, QUANTITIES, TEMPLATES, CONDITIONS, ADDRESSES, DURATIONS, IMAGES, TEXTS, NUMBERS,
)  # fmt: skip


def fitting(key: str) -> tuple[Any, ...]:
    """Odd values that a field of this name makes something of."""
    lower = key.lower()
    return next((values for part, values in BY_KEY if part in lower), SCALARS)
