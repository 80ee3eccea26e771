import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { parseTarget } from './parse-targets.ts'

const SOURCE = '/etc/svc-agent/targets.d/site.toml'

const EXAMPLE = `nome = "site"                              # the delivery
key_type = "ec-p256"                       # or ec-p384, ed25519, rsa-2048 … rsa-4096
reload = ["systemctl", "reload", "nginx"]  # argv, no shell, 60 s
probe = "127.0.0.1:443"                    # must serve the new serial within 10 s (probe_name for SNI)
probe_protocol = "tls"                     # or "postgres", which asks for TLS in its own way
[[file]]
path = "/etc/nginx/tls/site.pem"
content = ["cert", "chain"]                # any of cert, chain, key, ca in order; or format = "pkcs12" with password_file
owner = "root"
group = "www-data"
mode = "0640"                              # default 0600 with a key (PKCS#12 too), else 0644; one that lets others read a key is refused
`

const FILE = '[[file]]\npath = "/p"\ncontent = ["cert"]\n'

function parsed(text: string) {
  const result = parseTarget(SOURCE, text)
  assert.ok(result.ok, JSON.stringify(result))
  return result.target
}

/** `line: reason` of each problem. */
function problemsOf(text: string): string[] {
  const result = parseTarget(SOURCE, text)
  if (result.ok) return []
  for (const { source } of result.problems) assert.equal(source, SOURCE)
  return result.problems.map(({ line, reason }) => `${line ?? '-'}: ${reason}`)
}

function titleOf(text: string): string {
  return JSON.stringify(text.length > 90 ? `${text.slice(0, 90)}…` : text)
}

describe('a target', () => {
  test('[TGT-5] [TGT-6] that says everything is read as it stands', () => {
    assert.deepEqual(parsed(EXAMPLE), {
      source: SOURCE,
      sourceSha256: createHash('sha256').update(EXAMPLE).digest('hex'),
      name: 'site',
      artefact: 'pair',
      keyType: 'ec-p256',
      reload: ['systemctl', 'reload', 'nginx'],
      reportsOutput: true,
      probe: { host: '127.0.0.1', port: 443, protocol: 'tls', serverName: undefined },
      files: [
        {
          path: '/etc/nginx/tls/site.pem',
          content: { format: 'pem', parts: ['cert', 'chain'] },
          owner: 'root',
          group: 'www-data',
          mode: 0o640,
          line: 6,
        },
      ],
    })
  })

  test('[TGT-40] names its delivery in English too', () => {
    const portuguese = parsed(`nome = "site"\n${FILE}`)
    const { sourceSha256 } = portuguese
    assert.deepEqual({ ...parsed(`name = "site"\n${FILE}`), sourceSha256 }, portuguese)
  })

  test('[TGT-5] that says little has P-256 keys, tells nobody and probes nothing', () => {
    const { keyType, reload, probe, files } = parsed(`nome = "site"\n${FILE}`)
    assert.deepEqual(
      { keyType, reload, probe },
      { keyType: 'ec-p256', reload: undefined, probe: undefined },
    )
    assert.deepEqual(files[0], {
      path: '/p',
      content: { format: 'pem', parts: ['cert'] },
      owner: undefined,
      group: undefined,
      mode: 0o644,
      line: 2,
    })
  })

  test('[TGT-6] has mode 0600 where a key is in the file, PKCS#12 too, else 0644', () => {
    const { files } = parsed(`nome = "site"
[[file]]
path = "/a"
content = ["ca", "key"]
[[file]]
path = "/b"
format = "pkcs12"
password_file = "/secret"
[[file]]
path = "/c"
content = ["chain"]`)
    assert.deepEqual(
      files.map(({ mode }) => mode),
      [0o600, 0o600, 0o644],
    )
    assert.deepEqual(files[1]?.content, { format: 'pkcs12', passwordFile: '/secret' })
    assert.deepEqual(files[0]?.content, { format: 'pem', parts: ['ca', 'key'] })
  })

  const probes: [string, unknown][] = [
    [
      'probe = "[::1]:5432"\nprobe_protocol = "postgres"',
      { host: '::1', port: 5432, protocol: 'postgres', serverName: undefined },
    ],
    [
      'probe = "db.example:65535"',
      { host: 'db.example', port: 65_535, protocol: 'tls', serverName: undefined },
    ],
    [
      'probe = "localhost:1"\nprobe_name = "www.example.org"',
      { host: 'localhost', port: 1, protocol: 'tls', serverName: 'www.example.org' },
    ],
  ]
  for (const [text, probe] of probes) {
    test(`[TGT-5] may probe: ${text.replace('\n', ', ')}`, () => {
      assert.deepEqual(parsed(`nome = "site"\n${text}\n${FILE}`).probe, probe)
    })
  }

  const keyTypes = ['ec-p256', 'ec-p384', 'ed25519', 'rsa-2048', 'rsa-3072', 'rsa-4096']
  for (const keyType of keyTypes) {
    test(`[TGT-5] may ask for ${keyType}`, () => {
      assert.equal(parsed(`nome = "site"\nkey_type = "${keyType}"\n${FILE}`).keyType, keyType)
    })
  }

  test('[TGT-5] names all that is wrong at once, in the order of the lines', () => {
    const text = `nome = "../site"
colour = "red"
key_type = 256
# a comment with = and [[file]]
[[file]]
path = "relative"
content = [
  "cert", # one
  "cart",
]
[[file]]
mode = "0644"
content = ["key"]
[[file]]
path = "/x"
content = """
[[file]]
"""
owner = ""
`
    assert.deepEqual(problemsOf(text), [
      '1: nome cannot be the name of a delivery: "../site"',
      '2: unknown key "colour"',
      '3: key_type must be a string',
      '6: path must be absolute: "relative"',
      '7: content takes any of cert, chain, key, ca, or "file" alone: "cart"',
      '11: path is missing',
      '12: mode "0644" lets others read a key',
      '16: content must be a list of strings',
      '19: owner is neither a user name nor a number: ""',
    ])
  })
})

const TOP: [string, string][] = [
  ['nome = 1', '1: nome must be a string'],
  ['nome = ""', '1: nome cannot be the name of a delivery: ""'],
  ['nome = "a/b"', '1: nome cannot be the name of a delivery: "a/b"'],
  ['nome = "a"\nname = "b"', '2: name and nome are the same key: leave one of them out'],
  ['name = "../a"', '1: name cannot be the name of a delivery: "../a"'],
  ['nome = "a"\nNOME = "b"', '2: unknown key "NOME"'],
  ['nome = "a"\n"" = 1', '2: unknown key ""'],
  ['nome = "a"\nfiles.x = 1', '2: unknown key "files"'],
  ['nome = "a"\n"x\\u001b[2J\\u202e" = 1', '2: unknown key "x\\u001b[2J\\u{202e}"'],
  [
    'nome = "a"\nkey_type = "rsa-1024"',
    '2: key_type must be one of ec-p256, ec-p384, ed25519, rsa-2048, rsa-3072, rsa-4096: "rsa-1024"',
  ],
  ['nome = "a"\nreload = "systemctl reload nginx"', '2: reload must be a list of strings'],
  ['nome = "a"\nreload = ["a", 1]', '2: reload must be a list of strings'],
  ['nome = "a"\nreload = []', '2: reload is empty'],
  ['nome = "a"\nreload = [""]', '2: reload has no program'],
  [
    'nome = "a"\nreload = ["./x"]',
    '2: the program of reload must be a name or an absolute path: "./x"',
  ],
  ['nome = "a"\nreload = ["x", "a\\u0000b"]', '2: an item of reload has a control character'],
  [`nome = "a"\nreload = [${'"x",'.repeat(65)}]`, '2: reload has more than 64 items'],
  [
    `nome = "a"\nreload = ["${'x'.repeat(4097)}"]`,
    '2: an item of reload is longer than 4096 characters',
  ],
  ['nome = "a"\nprobe = 443', '2: probe must be a string'],
  ['nome = "a"\nprobe = "443"', '2: probe must be host:port or [IPv6 address]:port: "443"'],
  ['nome = "a"\nprobe = "host:0"', '2: probe must be host:port or [IPv6 address]:port: "host:0"'],
  [
    'nome = "a"\nprobe = "host:65536"',
    '2: probe must be host:port or [IPv6 address]:port: "host:65536"',
  ],
  ['nome = "a"\nprobe = "::1:443"', '2: probe must be host:port or [IPv6 address]:port: "::1:443"'],
  [
    'nome = "a"\nprobe = "[127.0.0.1]:443"',
    '2: probe must be host:port or [IPv6 address]:port: "[127.0.0.1]:443"',
  ],
  ['nome = "a"\nprobe = "a b:443"', '2: probe must be host:port or [IPv6 address]:port: "a b:443"'],
  [
    'nome = "a"\nprobe = "h:1"\nprobe_protocol = "smtp"',
    '3: probe_protocol must be one of tls, postgres: "smtp"',
  ],
  [
    'nome = "a"\nprobe = "h:1"\nprobe_name = "10.0.0.1"',
    '3: probe_name must be a host name: "10.0.0.1"',
  ],
  ['nome = "a"\nprobe_name = "x"', '2: probe_name needs probe'],
  ['nome = "a"\nprobe_protocol = "tls"', '2: probe_protocol needs probe'],
]

describe('what stands outside [[file]] is refused', () => {
  for (const [text, problem] of TOP) {
    test(`[TGT-5] ${titleOf(text)}`, () => {
      assert.deepEqual(problemsOf(`${text}\n${FILE}`), [problem])
    })
  }

  test('[TGT-5] a missing nome, and no [[file]] at all', () => {
    assert.deepEqual(problemsOf(''), ['-: name is missing', '-: there is no [[file]]'])
    assert.deepEqual(problemsOf('nome = "a"\nfile = []'), ['2: there is no [[file]]'])
  })

  test('[TGT-5] file written as anything but a list of tables', () => {
    for (const text of [
      'file = 1',
      'file = [1]',
      'file = [1979-05-27]',
      '[file]\npath = "/p"',
      'file = [[{}]]',
    ]) {
      assert.deepEqual(problemsOf(`nome = "a"\n${text}`), ['2: file must be written as [[file]]'])
    }
  })
})

const IN_FILE: [string, string][] = [
  ['path = "/p"', '3: content or format is missing'],
  ['content = ["cert"]', '3: path is missing'],
  ['path = 1\ncontent = ["cert"]', '4: path must be a string'],
  ['path = ""\ncontent = ["cert"]', '4: path must be absolute: ""'],
  ['path = "~/p"\ncontent = ["cert"]', '4: path must be absolute: "~/p"'],
  ['path = "/"\ncontent = ["cert"]', '4: path names a directory: "/"'],
  ['path = "/a/"\ncontent = ["cert"]', '4: path names a directory: "/a/"'],
  [
    'path = "/a/../b"\ncontent = ["cert"]',
    '4: path must be written without ., .. and doubled slashes: "/a/../b"',
  ],
  [
    'path = "/a/."\ncontent = ["cert"]',
    '4: path must be written without ., .. and doubled slashes: "/a/."',
  ],
  [
    'path = "//a"\ncontent = ["cert"]',
    '4: path must be written without ., .. and doubled slashes: "//a"',
  ],
  ['path = "/a\\u0000b"\ncontent = ["cert"]', '4: path has a control character'],
  ['path = "/a\\nb"\ncontent = ["cert"]', '4: path has a control character'],
  [
    `path = "/${'x/'.repeat(2000)}x"\ncontent = ["cert"]`,
    `4: path is longer than 4000 bytes: "/${'x/'.repeat(49)}x…"`,
  ],
  [
    `path = "/${'é'.repeat(101)}"\ncontent = ["cert"]`,
    `4: path has a file name longer than 200 bytes: "/${'é'.repeat(99)}…"`,
  ],
  ['path = "/p"\ncontent = "cert"', '5: content must be a list of strings'],
  ['path = "/p"\ncontent = []', '5: content is empty'],
  [
    'path = "/p"\ncontent = ["fullchain"]',
    '5: content takes any of cert, chain, key, ca, or "file" alone: "fullchain"',
  ],
  ['path = "/p"\ncontent = ["key", "key"]', '5: content has the same part twice'],
  [
    'path = "/p"\ncontent = ["cert"]\nformat = "pkcs12"\npassword_file = "/w"',
    '6: content and format are both given: use only one of them in a file',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\npassword_file = "/w"',
    '6: password_file is for format = "pkcs12"',
  ],
  ['path = "/p"\nformat = "pkcs12"', '3: format = "pkcs12" needs a password_file'],
  ['path = "/p"\nformat = "jks"\npassword_file = "/w"', '5: format must be one of pkcs12: "jks"'],
  ['path = "/p"\nformat = "pkcs12"\npassword_file = "w"', '6: password_file must be absolute: "w"'],
  ['path = "/p"\ncontent = ["cert"]\npassword = "x"', '6: unknown key "password"'],
  ['path = "/p"\ncontent = ["cert"]\nowner = 33', '6: owner must be a string'],
  [
    'path = "/p"\ncontent = ["cert"]\nowner = "-1"',
    '6: owner is neither a user name nor a number: "-1"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nowner = "4294967295"',
    '6: owner is neither a user name nor a number: "4294967295"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nowner = "--help"',
    '6: owner is neither a user name nor a number: "--help"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\ngroup = "a:b"',
    '6: group is neither a group name nor a number: "a:b"',
  ],
  ['path = "/p"\ncontent = ["cert"]\nmode = 0o644', '6: mode must be a string'],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "u=rw"',
    '6: mode must be octal digits such as "0640": "u=rw"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "0689"',
    '6: mode must be octal digits such as "0640": "0689"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "64"',
    '6: mode must be octal digits such as "0640": "64"',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "4755"',
    '6: mode "4755" has setuid, setgid or sticky bits',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "02755"',
    '6: mode "02755" has setuid, setgid or sticky bits',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "1755"',
    '6: mode "1755" has setuid, setgid or sticky bits',
  ],
  [
    'path = "/p"\ncontent = ["cert"]\nmode = "0044"',
    '6: mode "0044" does not let the owner read the file',
  ],
  ['path = "/p"\ncontent = ["cert"]\nmode = "0666"', '6: mode "0666" lets others write the file'],
  [
    'path = "/p"\ncontent = ["cert", "key"]\nmode = "0644"',
    '6: mode "0644" lets others read a key',
  ],
  ['path = "/p"\ncontent = ["key"]\nmode = "601"', '6: mode "601" lets others read a key'],
  [
    'path = "/p"\nformat = "pkcs12"\npassword_file = "/w"\nmode = "0604"',
    '7: mode "0604" lets others read a key',
  ],
  ['path = "/p"\ncontent = ["cert"]\n[file.extra]\nx = 1', '6: unknown key "extra"'],
]

describe('what stands in a [[file]] is refused', () => {
  for (const [text, problem] of IN_FILE) {
    test(`[TGT-6] ${titleOf(text)}`, () => {
      assert.deepEqual(problemsOf(`nome = "a"\n\n[[file]]\n${text}`), [problem])
    })
  }

  test('[TGT-7] the same path twice', () => {
    assert.deepEqual(problemsOf(`nome = "a"\n${FILE}${FILE}${FILE}`), [
      '5: the file in line 2 has the same path: "/p"',
      '8: the file in line 2 has the same path: "/p"',
    ])
  })

  test('[TGT-3] more than 32 files', () => {
    const files = Array.from({ length: 33 }, (_, index) => FILE.replace('/p', `/p${index}`))
    assert.deepEqual(problemsOf(`nome = "a"\n${files.join('')}`), ['2: has more than 32 files'])
    assert.deepEqual(problemsOf(`nome = "a"\n${files.slice(1).join('')}`), [])
  })
})

describe('what is not TOML is refused', () => {
  const texts: [string, string][] = [
    [
      'nome = "a"\nnome = "b"',
      '2: is not TOML: trying to redefine an already defined table or value',
    ],
    ['nome = "a"\nreload = ["x",', '2: is not TOML: unfinished array'],
    ['nome "a"', '1: is not TOML: illegal character in key'],
    ['nome = "a"\n\n__proto__ = 1', '3: is not TOML: document contains an unsafe property'],
    [
      `nome = "a"\nreload = ${'['.repeat(10_000)}`,
      '2: is not TOML: document contains excessively nested structures. aborting.',
    ],
  ]
  for (const [text, problem] of texts) {
    test(`[TGT-5] ${titleOf(text)}`, () => assert.deepEqual(problemsOf(text), [problem]))
  }

  test('[TGT-3] nor is more than 64 KiB looked at', () => {
    const text = `nome = "a"\n${FILE}`
    const padded = `${text}#${'x'.repeat(64 * 1024 - text.length - 1)}`
    assert.deepEqual(problemsOf(padded), [])
    assert.deepEqual(problemsOf(`${padded}x`), ['-: is larger than 65536 bytes'])
  })
})
