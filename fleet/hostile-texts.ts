// Texts that a page must show as texts: what a hostile host, operator or webhook receiver can put where the hub allows free text, and
// hostnames at the edge of what the hub's rules for names allow.

const MARKUP = [
  '<img src=x onerror="document.title=1">',
  '"><script>document.title=1</script>',
  "'-alert(1)-'",
  '</title><svg onload=alert(1)>',
  'javascript:alert(1)',
  '[click](javascript:alert(1))',
  '{{constructor.constructor("alert(1)")()}}',
  '<style>*{display:none}</style>',
  '<base href="https://evil.example/">',
  '<!--',
  '&lt;b&gt;&amp;#60;',
  'data:text/html,<script>alert(1)</script>',
  '%3Cscript%3Ealert(1)%3C/script%3E',
  '<a href="//evil.example" target=_top>renew now</a>',
]
const DIRECTIONS = [
  '\u202Eexe.tropsnart\u202C',
  '\u2066left\u2069',
  '\u200Fשלום עולם',
  'مرحبا بالعالم',
]
const SHAPES = [
  'W'.repeat(512),
  '🔥'.repeat(60),
  '👩‍👩‍👧‍👦 🇧🇷 👍🏿',
  `Z${'\u0335\u0321\u0322'.repeat(20)}algo`,
  'line one\nline two\r\n\tline three',
  'a\u0000b\u0007c\u001B[31mred',
  '\uFEFF\u200B\u200D',
  '__proto__',
  'constructor',
  'null',
  "'; DROP TABLE agentes; --",
  '../../../../etc/passwd',
]

const TEXTS = [...MARKUP, ...DIRECTIONS, ...SHAPES]

/** One after the other, each with a number, so that no two are the same. */
export function hostileText(number: number): string {
  return `${TEXTS[number % TEXTS.length] ?? ''} ${number}`
}

/** Hostnames are ASCII in lower case: what is left is length, dashes and words that look like something else. */
export function hostileHostname(number: number): string {
  const shapes = [
    `${'w'.repeat(60)}${number}`,
    `xn--${'9'.repeat(8)}-${number}`,
    `javascript-alert-1-${number}`,
    `constructor.prototype-${number}`,
    `0.0.0.${number}.null.undefined`,
    `${'a.'.repeat(80)}deep-${number}`,
    `script-src-self-${number}.evil`,
    `${number}--------------------x`,
  ]
  return `${shapes[number % shapes.length] ?? ''}.example.org`
}
