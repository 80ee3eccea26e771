import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideReceiver } from './receiver.ts'
import { findHeaderFault, parseHeaders } from './receiver-headers.ts'

describe('[WHK-21] [WHK-26] [WHK-31] the URL of a receiver', () => {
  for (const [text, format, url] of [
    ['https://alerts.example.org/in', 'webhook', 'https://alerts.example.org/in'],
    ['http://localhost:9000/', 'webhook', 'http://localhost:9000/'],
    ['syslog+tls://siem.example.org', 'syslog', 'syslog+tls://siem.example.org:6514'],
    ['syslog+tls://SIEM.example.org:443/', 'syslog', 'syslog+tls://siem.example.org:443'],
    ['syslog+tls://10.0.0.8:1', 'syslog', 'syslog+tls://10.0.0.8:1'],
    ['syslog+tls://[fd12:3456::1]', 'syslog', 'syslog+tls://[fd12:3456::1]:6514'],
    ['otlp+https://c.example.org', 'otlp', 'otlp+https://c.example.org/v1/logs'],
    [
      'otlp+https://c.example.org/api/otlp/v1/logs',
      'otlp',
      'otlp+https://c.example.org/api/otlp/v1/logs',
    ],
    ['otlp+http://127.0.0.1:4318/', 'otlp', 'otlp+http://127.0.0.1:4318/v1/logs'],
    [
      'slack+https://hooks.slack.com/services/T/B/x',
      'slack',
      'slack+https://hooks.slack.com/services/T/B/x',
    ],
    ['slack+http://localhost:1/', 'slack', 'slack+http://localhost:1/'],
    [
      'teams+https://x.logic.azure.com:443/workflows/y?sig=z',
      'teams',
      'teams+https://x.logic.azure.com/workflows/y?sig=z',
    ],
    [
      'smtps://hub%40example.org@MAIL.example.org?to=oncall@example.org&from=hub+x@example.org',
      'mail',
      'smtps://hub%40example.org@mail.example.org:465?from=hub%2Bx@example.org&to=oncall@example.org',
    ],
    [
      'smtp+tls://[fd12:3456::1]/?from=a@b.example&to=c@d.example',
      'mail',
      'smtp+tls://[fd12:3456::1]:587?from=a@b.example&to=c@d.example',
    ],
    [
      'smtp://127.0.0.1:1025?from=root@localhost&to=root@localhost',
      'mail',
      'smtp://127.0.0.1:1025?from=root@localhost&to=root@localhost',
    ],
  ] as const) {
    test(`${text} is of ${format}`, () => {
      const verdict = decideReceiver(text)
      assert.ok(verdict.ok, JSON.stringify(verdict))
      assert.deepEqual([verdict.receiver.format, verdict.url], [format, url])
      // What is stored is read again.
      assert.deepEqual(decideReceiver(verdict.url), verdict)
    })
  }

  const refused: [url: string, reason: RegExp][] = [
    ['syslog://siem.example.org', /not https/],
    ['syslog+tcp://siem.example.org', /not https/],
    ['syslog+tls:siem.example.org', /names no host|something else/],
    ['syslog+tls://', /not a URL|names no host/],
    ['syslog+tls://:6514', /not a URL/],
    ['syslog+tls://user:secret@siem.example.org', /credentials/],
    ['syslog+tls://siem.example.org/path', /something else/],
    ['syslog+tls://siem.example.org?x=1', /something else/],
    ['syslog+tls://si%20em.example.org', /names no host/],
    ['syslog+tls://-x.example.org', /names no host/],
    ['syslog+tls://169.254.169.254', /does not send to 169\.254\.169\.254/],
    ['syslog+tls://[fe80::1]', /does not send to/],
    ['syslog+tls://[::ffff:169.254.169.254]', /does not send to/],
    ['otlp+http://collector.example.org/v1/logs', /not https, and not on this machine/],
    ['otlp+https://169.254.169.254/v1/logs', /does not send to/],
    ['otlp+https://user:secret@c.example.org/', /credentials/],
    ['otlp+grpc://c.example.org:4317', /not https/],
    ['slack+http://hooks.slack.com/services/x', /not https, and not on this machine/],
    ['slack+https://169.254.169.254/', /does not send to/],
    ['slack+teams+https://x.example', /not https/],
    ['slack+smtps://x.example?from=a@b&to=c@d', /not https/],
    ['smtp://mail.example.org?from=a@b.example&to=c@d.example', /neither smtps nor smtp\+tls/],
    ['smtp://10.0.0.8?from=a@b.example&to=c@d.example', /does not send to 10\.0\.0\.8/],
    ['smtps://169.254.169.254?from=a@b.example&to=c@d.example', /does not send to/],
    ['smtps://u:secret@mail.example.org?from=a@b.example&to=c@d.example', /password in it/],
    ['smtps://u%0d%0aX@mail.example.org?from=a@b.example&to=c@d.example', /user is not printable/],
    ['smtps://u%ff@mail.example.org?from=a@b.example&to=c@d.example', /user is not printable/],
    ['smtps://mail.example.org/inbox?from=a@b.example&to=c@d.example', /something else/],
    ['smtps://mail.example.org?from=a@b.example&to=c@d.example#x', /something else/],
    ['smtps://mail.example.org:0?from=a@b.example&to=c@d.example', /no port/],
    ['smtps:mail.example.org?from=a@b.example&to=c@d.example', /names no host|something else/],
    ...[
      '',
      '?from=a@b.example',
      '?from=a@b.example&to=',
      '?from=a@b.example&to=c@d.example&cc=e@f.example',
      '?from=a@b.example&to=c@d.example&to=e@f.example',
      '?from=a@b.example&to=c@d.example,e@f.example',
      '?from=a@b.example&to=c@d.example%0d%0aBcc:e@f.example',
      '?from=Hub%20%3Ca@b.example%3E&to=c@d.example',
      '?from=a&to=c@d.example',
      '?from=%22a%22@b.example&to=c@d.example',
      `?from=a@b.example&to=${'c'.repeat(65)}@d.example`,
      '?from=a@b.example&to=c@d.example%3e',
    ].map((query): [string, RegExp] => [
      `smtps://mail.example.org${query}`,
      /each one mail address/,
    ]),
    ['otlp+otlp+https://c.example.org', /not https/],
    ['otlp+syslog+tls://c.example.org', /not https/],
  ]
  for (const [url, reason] of refused) {
    test(`may not be ${url}`, () => {
      const verdict = decideReceiver(url)
      assert.ok(!verdict.ok, 'it is accepted')
      assert.match(verdict.reason, reason)
    })
  }
})

describe('[WHK-24] headers of a receiver', () => {
  test('are taken in any spelling of their names', () => {
    const lines = ['Authorization: Bearer a b', 'X-Scope-OrgID:7', 'x!#$%&\'*+.^_`|~: "z"']
    assert.equal(findHeaderFault(lines), undefined)
    assert.deepEqual(parseHeaders(lines.join('\n')), {
      authorization: 'Bearer a b',
      'x-scope-orgid': '7',
      "x!#$%&'*+.^_`|~": '"z"',
    })
    assert.deepEqual(parseHeaders(''), {})
  })

  for (const [lines, fault] of [
    [['Authorization'], 'header 1 is not of the form "Name: value"'],
    [['a: 1', 'b:'], 'header 2 is not of the form "Name: value"'],
    [['a b: 1'], 'header 1 is not of the form "Name: value"'],
    [['a: 1\r\nHost: x'], 'header 1 is not of the form "Name: value"'],
    [['a: 1\nb: 2'], 'header 1 is not of the form "Name: value"'],
    [['a: é'], 'header 1 is not of the form "Name: value"'],
    [[`a: ${'x'.repeat(4097)}`], 'header 1 is not of the form "Name: value"'],
    [['Content-Type: text/plain'], 'the hub says content-type itself'],
    [['HOST: x'], 'the hub says host itself'],
    [['Transfer-Encoding: chunked'], 'the hub says transfer-encoding itself'],
    [['a: 1', 'A: 2'], 'a is there twice'],
  ] as const) {
    test(`are none: ${JSON.stringify(lines).slice(0, 40)}`, () => {
      assert.equal(findHeaderFault(lines), fault)
    })
  }
})
