import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { before, test } from 'node:test'
import { generateEcP256Key } from '../../pki/keys.ts'
import { describeOutput, type HiddenFromOutput } from './command-output.ts'

let keyPem = ''
before(async () => {
  keyPem = (await generateEcP256Key()).pem
})

const ofPair = (): HiddenFromOutput => ({
  material: { leafPem: '', chainPems: [], keyPem, caPem: '' },
  former: [],
  passwords: [],
})
const ofFile = (text: string): HiddenFromOutput => ({
  material: { content: Buffer.from(text) },
  former: [],
  passwords: [],
})

test('[TGT-31] the last 20 lines are told, as they are', () => {
  const lines = Array.from({ length: 30 }, (_, index) => `line ${index}`)
  const shown = describeOutput(`${lines.join('\n')}\n\n`, ofPair())
  assert.deepEqual(shown.split('\n'), lines.slice(-20))
  const nginx =
    'nginx: [emerg] cannot load certificate "/etc/nginx/tls/site.crt": BIO_new_file() failed'
  assert.equal(describeOutput(nginx, ofPair()), nginx)
  assert.equal(describeOutput('', ofPair()), '')
})

test('[TGT-31] lines and the whole are bounded, the end is what stays', () => {
  const shown = describeOutput(`${`${'é'.repeat(300)}\n`.repeat(30)}the end`, ofPair())
  assert.ok(shown.length <= 2000)
  assert.ok(shown.endsWith('the end'))
  assert.ok(shown.split('\n').every((line) => line.length <= 200))
})

test('[TGT-31] nothing in it moves the cursor of a terminal', () => {
  const output = '\u001b[31mred\u001b[0m \u001b]0;title\u0007 a\u0000b\u009bc\u202ed\rnext'
  assert.equal(describeOutput(output, ofPair()), 'red  a\\u0000b\\u009bc\\u202ed\nnext')
})

test('[TGT-31] the key is in it in no spelling that a command would print', () => {
  const der = Buffer.from(keyPem.replaceAll(/-----[^-]*-----|\s/g, ''), 'base64')
  const secret = der.subarray(36, 68)
  const text = execFileSync('openssl', ['pkey', '-text', '-noout'], { input: keyPem }).toString()
  const sec1 = execFileSync('openssl', ['ec'], { input: keyPem, stdio: 'pipe' }).toString()
  const body = keyPem.split('\n').slice(1, -2).join('\n')
  for (const output of [
    keyPem,
    body,
    sec1,
    `${body}\n-----END PRIVATE KEY-----\nrefused`,
    text,
    `00000000: ${secret.toString('hex').replaceAll(/(.{4})/g, '$1 ')} .0..a`,
    `scalar ${secret.toString('hex')}`,
    `scalar ${secret.toString('base64')} ${secret.toString('base64url')}`,
  ]) {
    const shown = describeOutput(`before\n${output}\nafter`, ofPair())
    assert.match(shown, /after$/)
    const digits = shown.replaceAll(/[^0-9a-fA-F]/g, '').toLowerCase()
    const hex = secret.toString('hex')
    for (let at = 0; at + 12 <= hex.length; at += 1) {
      assert.ok(!digits.includes(hex.slice(at, at + 12)), shown)
    }
    const base64 = secret.subarray(3).toString('base64').slice(0, -2)
    assert.ok(!shown.includes(base64.slice(4, 16)), shown)
    assert.ok(!shown.includes(body.slice(20, 32)), shown)
  }
})

test('[TGT-31] times, addresses and numbers of processes stay', () => {
  const line =
    '2026/11/23 05:21:06 [emerg] 3803#3803: bind() to [2001:db8::10]:443 failed (98: Address in use)'
  assert.equal(describeOutput(line, ofPair()), line)
})

test('[TGT-31] a password of PKCS#12, and what a sealed file holds, before and after, become dots', () => {
  const passwords = ['hunter2', 'abc']
  assert.equal(
    describeOutput('keytool: hunter2 is wrong, and so is abc', { ...ofPair(), passwords }),
    'keytool: • is wrong, and so is •',
  )
  const hidden = { ...ofFile('db = s3cr3t-0ne\n'), former: [Buffer.from('old-value-9')] }
  assert.equal(
    describeOutput("app: cannot log in with 's3cr3t-0ne', nor with 'old-value-9'", hidden),
    "app: cannot log in with '•', nor with '•'",
  )
})

test('[TGT-31] colours hide nothing from the comparison', () => {
  const colours =
    '\u001b[1mpassword\u001b(B\u001b[m\u001b[39m:\u001b[0m \u001b[32m"correcthorse"\u001b[0m'
  assert.equal(describeOutput(colours, ofPair()), 'password: •')
  const output = 'got s3c\u001b[31mr3t\u001b[0m-0ne'
  assert.equal(describeOutput(output, ofFile('s3cr3t-0ne')), 'got •')
})

test('[TGT-31] of a command for a large file nothing leaves the host', () => {
  assert.equal(describeOutput('anything', ofFile('x'.repeat(64 * 1024 + 1))), '')
})

test('[TGT-31] what calls itself a password, a token or a credential is left out', () => {
  const cases: [string, string][] = [
    ['login failed: password=correcthorse user=app', 'login failed: password=• user=app'],
    [
      '+ curl -H "Authorization: Bearer abc.def.ghi" https://x',
      '+ curl -H "Authorization: •" https://x',
    ],
    ['Authorization: Token abcdef, and more', 'Authorization: •'],
    ["-H 'authorization: Digest username=app, response=0123abcd' url", "-H 'authorization: •' url"],
    ['https://user:pass@vault.example/x', 'https://•@vault.example/x'],
    ["api_key: 'k-123 456' end", 'api_key: • end'],
    ['svct_0123456789abcdef', '[redacted]'],
  ]
  for (const [output, shown] of cases) assert.equal(describeOutput(output, ofPair()), shown)
})
