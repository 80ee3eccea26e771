import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { parseTarget } from './parse-targets.ts'

const SOURCE = '/etc/svc-agent/targets.d/site.toml'

describe('a target of a file', () => {
  test('[SLD-11] may be of a file: mode 0600 unless another one is given', () => {
    const outcome = parseTarget(
      SOURCE,
      `nome = "site.conf"
reload = ["true"]
[[file]]
path = "/a"
content = ["file"]
[[file]]
path = "/b"
content = ["file"]
mode = "0644"`,
    )
    assert.ok(outcome.ok)
    const { artefact, files, probe } = outcome.target
    assert.deepEqual({ artefact, probe }, { artefact: 'file', probe: undefined })
    assert.deepEqual(
      files.map(({ content, mode }) => [content, mode]),
      [
        [{ format: 'file' }, 0o600],
        [{ format: 'file' }, 0o644],
      ],
    )
  })

  const refused: [string, string][] = [
    [
      'path = "/p"\ncontent = ["file", "key"]',
      '5: content has "file" and more: "file" stands alone',
    ],
    ['path = "/p"\ncontent = ["file"]\nmode = "0666"', '6: mode "0666" lets others write the file'],
  ]
  for (const [text, problem] of refused) {
    test(`[SLD-11] is refused with ${problem}`, () => {
      assert.deepEqual(problemsOf(`nome = "a"\n\n[[file]]\n${text}`), [problem])
    })
  }

  test('[SLD-11] is refused with what is of a certificate beside it', () => {
    const text = `nome = "a"
key_type = "ec-p384"
probe = "localhost:1"
[[file]]
path = "/a"
content = ["file"]
[[file]]
path = "/b"
content = ["cert"]
[[file]]
path = "/c"
format = "pkcs12"
password_file = "/w"`
    assert.deepEqual(problemsOf(text), [
      '2: key_type is for certificates, and this target is for a file',
      '3: probe is for certificates, and this target is for a file',
      '7: this file takes parts of a certificate, and the file in line 4 takes a delivered file',
      '10: this file takes parts of a certificate, and the file in line 4 takes a delivered file',
    ])
  })
})

function problemsOf(text: string): string[] {
  const outcome = parseTarget(SOURCE, text)
  return outcome.ok ? [] : outcome.problems.map(({ line, reason }) => `${line}: ${reason}`)
}
