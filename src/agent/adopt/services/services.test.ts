import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { parseListener, type ServiceFindings } from '../certificate-use.ts'
import { type ConfigReader, createConfigReader, expandPattern } from '../config-reader.ts'
import { readPresentFile } from '../present-file.ts'
import { readApache } from './apache.ts'
import { readCaddy } from './caddy.ts'
import { readHaproxy } from './haproxy.ts'
import { readNginx } from './nginx.ts'
import { parsePostgresqlCommand, readPostgresql } from './postgresql.ts'

/** Files in memory; a directory is what files are below. */
function readerOf(files: Readonly<Record<string, string>>): ConfigReader {
  const list = (directory: string): string[] | undefined => {
    const names = Object.keys(files)
      .filter((path) => path.startsWith(`${directory}/`.replace('//', '/')))
      .map((path) => path.slice(`${directory}/`.replace('//', '/').length).split('/')[0] ?? '')
    return names.length === 0 ? undefined : [...new Set(names)].sort()
  }
  return {
    list,
    read: (path) => files[path],
    expand: (pattern) => expandPattern(pattern, list),
    place: (path) => path.replace('/alias/', '/etc/'),
  }
}

const NGINX = '/etc/nginx/nginx.conf'

function nginx(text: string, more: Readonly<Record<string, string>> = {}): ServiceFindings {
  return readNginx(readerOf({ [NGINX]: text, ...more }), NGINX)
}

describe('what nginx reads', () => {
  test('[ADO-1] a server, with what it includes and what it inherits', () => {
    const { uses, remarks } = nginx(
      `http { ssl_certificate /etc/ssl/all.pem; ssl_certificate_key /etc/ssl/all.key;
        include sites-enabled/*; }`,
      {
        '/etc/nginx/sites-enabled/a': `# server { listen 1 ssl; }
          server { listen [::]:443 ssl http2; listen 443 quic; server_name _ ~^x .a.test a.test; }`,
        '/etc/nginx/sites-enabled/b': `server { listen 8443 default_server ssl;
          ssl_certificate "tls/b c.pem"; ssl_certificate_key tls/b\\ c.key; server_name b.test;
          location / { content_by_lua_block { local t = { "}", 1 } } return 200 'ssl_certificate no;'; } }
          server { listen 80; server_name plain.test; }`,
        '/etc/nginx/sites-enabled/.hidden': 'server { listen 1 ssl; }',
      },
    )
    assert.deepEqual(remarks, [])
    assert.deepEqual(uses, [
      {
        certificatePath: '/etc/ssl/all.pem',
        keyPath: '/etc/ssl/all.key',
        listeners: [{ host: '::1', port: 443 }],
        serverName: 'www.a.test',
      },
      {
        certificatePath: '/etc/nginx/tls/b c.pem',
        keyPath: '/etc/nginx/tls/b c.key',
        listeners: [{ host: '127.0.0.1', port: 8443 }],
        serverName: 'b.test',
      },
    ])
  })

  test('[ADO-1] what cannot be followed is said', () => {
    const { uses, remarks } = nginx(`http {
      server { listen 443 ssl; server_name v.test; ssl_certificate /c/$ssl_server_name.crt; ssl_certificate_key /k; }
      server { listen 443 ssl; server_name two.test; ssl_certificate /a; ssl_certificate_key /b; ssl_certificate /c; }
      server { listen 443 ssl proxy_protocol; server_name p.test; ssl_certificate /a; }
      location / { proxy_ssl_certificate /client.pem; }
      include missing.conf; }`)
    assert.deepEqual(uses, [])
    assert.deepEqual(remarks, [
      'proxy_ssl_certificate /client.pem: a certificate that nginx shows to others is not adopted',
      '/etc/nginx/missing.conf is included and cannot be read',
      'the server v.test has a certificate that is no file: /c/$ssl_server_name.crt',
      'the server two.test has 2 certificates, and one is adopted only',
    ])
  })

  test('[ADO-2] includes in a circle come to an end', () => {
    const { remarks } = nginx('http { include nginx.conf; }')
    assert.deepEqual(remarks, ['/etc/nginx/nginx.conf is included and cannot be read'])
  })

  test('[ADO-2] text that is no configuration costs no more than its length', () => {
    const parts = ['${', '"\\', "'", '{', '\\', '$', 'a#"', 'x_by_lua_block {', '# ', '\n;']
    for (const part of parts) {
      const startedMs = performance.now()
      nginx(`http { server { ${part.repeat(100_000)}`)
      assert.ok(performance.now() - startedMs < 5000, JSON.stringify(part))
    }
  })
})

describe('what nginx reads of the blocks around', () => {
  test('[ADO-1] a certificate of http counts for servers that stand before it', () => {
    const { uses } = nginx(
      `http { include sites-enabled/*; server { listen 8443 ssl; }
        ssl_certificate /etc/ssl/all.pem; ssl_certificate_key /etc/ssl/all.key; }`,
      { '/etc/nginx/sites-enabled/a': 'server { listen 443 ssl; }' },
    )
    assert.deepEqual(
      uses.map(({ certificatePath, keyPath, listeners }) => [
        certificatePath,
        keyPath,
        listeners[0]?.port,
      ]),
      [
        ['/etc/ssl/all.pem', '/etc/ssl/all.key', 443],
        ['/etc/ssl/all.pem', '/etc/ssl/all.key', 8443],
      ],
    )
  })
})

describe('what Apache reads', () => {
  test('[ADO-1] virtual hosts, with definitions, includes and what they inherit', () => {
    const configPath = '/etc/apache2/apache2.conf'
    const { uses, remarks } = readApache(
      readerOf({
        [configPath]: `Define TLS /etc/tls\nIncludeOptional mods-enabled/*.load\nSSLCertificateFile \${TLS}/all.pem
SSLCertificateKeyFile \${TLS}/all.key\nInclude "sites-enabled"\n`,
        '/etc/apache2/sites-enabled/a.conf': `<IfModule mod_ssl.c>
  <VirtualHost *:443 [::1]:8443>
    ServerAlias x.a.test
    ServerName https://a.test:443
    SSLEngine on
    Include snippets/own.conf
  </VirtualHost>
</IfModule>
<VirtualHost _default_:443>
  SSLEngine on
</VirtualHost>
<VirtualHost *:80>
  SSLCertificateFile /never
</VirtualHost>
`,
        '/etc/apache2/snippets/own.conf': `SSLCertificateFile tls/a.crt\nSSLCertificateKeyFile \\\n  'tls/a b.key'\nsslcertificatechainfile tls/chain.crt\n`,
      }),
      { configPath, root: '/etc/apache2' },
    )
    assert.deepEqual(remarks, [])
    assert.deepEqual(uses, [
      {
        certificatePath: '/etc/apache2/tls/a.crt',
        keyPath: '/etc/apache2/tls/a b.key',
        chainPath: '/etc/apache2/tls/chain.crt',
        listeners: [
          { host: '127.0.0.1', port: 443 },
          { host: '::1', port: 8443 },
        ],
        serverName: 'a.test',
      },
      {
        certificatePath: '/etc/tls/all.pem',
        keyPath: '/etc/tls/all.key',
        chainPath: undefined,
        listeners: [{ host: '127.0.0.1', port: 443 }],
        serverName: undefined,
      },
    ])
  })

  test('[ADO-1] what cannot be followed is said', () => {
    const { uses, remarks } = readApache(
      readerOf({
        '/c': `MDomain md.test\n<VirtualHost *:443>\nSSLEngine on\nServerName e.test
SSLCertificateFile \${NOWHERE}/e.pem\n</VirtualHost>\n<VirtualHost *:443>\nSSLEngine on\nServerName t.test
SSLCertificateFile /rsa\nSSLCertificateFile /ec\n</VirtualHost>\n`,
      }),
      { configPath: '/c', root: '/' },
    )
    assert.deepEqual(uses, [])
    assert.deepEqual(remarks, [
      'md.test: mod_md of Apache gets this certificate by itself; end that first',
      'the virtual host e.test has a certificate that cannot be followed: ${NOWHERE}/e.pem',
      'the virtual host t.test has 2 certificates, and one is adopted only',
    ])
  })
})

describe('what HAProxy reads', () => {
  test('[ADO-1] files, directories and lists of `bind`', () => {
    const { uses, remarks } = readHaproxy(
      readerOf({
        '/etc/haproxy/haproxy.cfg': `global
  crt-base /etc/tls
frontend web
  bind :443,[::]:8443 ssl crt all crt "o ne.pem" # crt no
  bind ipv4@10.0.0.1:9443 ssl crt-list /etc/haproxy/list
  bind /run/sock ssl crt socket.pem accept-proxy
backend b
  server s1 10.0.0.2:443 ssl crt client.pem
`,
        '/etc/tls/all/b.pem': 'PRIVATE KEY-----',
        '/etc/tls/all/a.pem': 'CERTIFICATE',
        '/etc/tls/all/a.pem.key': 'PRIVATE KEY-----',
        '/etc/tls/all/b.pem.ocsp': '',
        '/etc/tls/all/.hidden.pem': '',
        '/etc/tls/o ne.pem': 'PRIVATE KEY-----',
        '/etc/haproxy/list': '# list\nall/b.pem [alpn h2] b.test !c.test\n',
      }),
      ['/etc/haproxy/haproxy.cfg'],
    )
    const both = [
      { host: '127.0.0.1', port: 443 },
      { host: '::1', port: 8443 },
    ]
    const use = (path: string, keyPath: string | undefined, listeners: readonly unknown[]) => {
      return { certificatePath: path, keyPath, listeners, serverName: undefined }
    }
    assert.deepEqual(uses, [
      use('/etc/tls/all/a.pem', '/etc/tls/all/a.pem.key', both),
      use('/etc/tls/all/b.pem', undefined, both),
      use('/etc/tls/o ne.pem', undefined, both),
      use('/etc/tls/all/b.pem', undefined, [{ host: '10.0.0.1', port: 9443 }]),
      use('/etc/tls/socket.pem', undefined, []),
    ])
    assert.deepEqual(remarks, [
      'client.pem: a certificate that HAProxy shows to servers is not adopted',
    ])
  })
})

describe('what PostgreSQL reads', () => {
  test('[ADO-1] the last setting counts: included, altered, of the command line', () => {
    const reader = readerOf({
      '/etc/pg/postgresql.conf': `listen_addresses = '*' # all\nssl = off\ninclude_dir 'conf.d'
include_if_exists = 'missing.conf'\nssl_key_file = '/k''ey'\nport = 1\n`,
      '/etc/pg/conf.d/a.conf': 'SSL = on\n',
      '/etc/pg/conf.d/.b.conf': 'ssl = off\n',
      '/data/postgresql.auto.conf': "ssl_cert_file = 'auto.crt'\n",
    })
    const command = parsePostgresqlCommand(
      ['-D', '/data', '-c', 'config_file=/etc/pg/postgresql.conf', '--port=5433'],
      undefined,
    )
    assert.ok(command)
    assert.deepEqual(readPostgresql(reader, command), {
      uses: [
        {
          certificatePath: '/data/auto.crt',
          keyPath: "/k'ey",
          listeners: [{ host: '127.0.0.1', port: 5433 }],
          serverName: undefined,
        },
      ],
      remarks: [],
    })
    const off = { ...command, settings: new Map([['ssl', 'off']]) }
    assert.deepEqual(readPostgresql(reader, off).uses, [])
  })
})

describe('what Caddy reads', () => {
  test('[ADO-1] sites with files, through snippets and imports; what Caddy gets itself is said', () => {
    const { uses, remarks } = readCaddy(
      readerOf({
        '/etc/caddy/Caddyfile': `{
  email a@b.test
}
(own) {
  tls /tls/a.pem "/tls/a b.key"
}
https://a.test:8443, a2.test {
  import own
  header {
    X "}"
  }
}
auto.test {
  tls internal
}
http://plain.test {
}
import sites/*.caddy
`,
        '/etc/caddy/sites/b.caddy': 'b.test {\n  tls b.pem b.key {\n    protocols tls1.3\n  }\n}\n',
      }),
      '/etc/caddy/Caddyfile',
    )
    assert.deepEqual(uses, [
      {
        certificatePath: '/tls/a.pem',
        keyPath: '/tls/a b.key',
        listeners: [
          { host: '127.0.0.1', port: 8443 },
          { host: '127.0.0.1', port: 443 },
        ],
        serverName: 'a.test',
      },
      {
        certificatePath: '/etc/caddy/b.pem',
        keyPath: '/etc/caddy/b.key',
        listeners: [{ host: '127.0.0.1', port: 443 }],
        serverName: 'b.test',
      },
    ])
    assert.deepEqual(remarks, [
      'Caddy gets the certificate of auto.test by itself: name files first',
    ])
  })
})

describe('configurations of others than root', () => {
  const withFiles = async (
    files: Readonly<Record<string, string>>,
    work: (directory: string) => void,
  ): Promise<void> => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-agent-services-'))
    try {
      for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
      work(directory)
    } finally {
      rmSync(directory, { recursive: true })
    }
  }

  test('[ADO-2] files that include each other are given up', async () => {
    const four = 'include a\ninclude a\ninclude a\ninclude a\n'
    const files = {
      a: four,
      'apache.conf': 'Include a\n'.repeat(4),
      'nginx.conf': 'include nginx.conf;'.repeat(4),
      Caddyfile: 'import Caddyfile*\n'.repeat(20),
    }
    await withFiles(files, (directory) => {
      const path = (name: string): string => join(directory, name)
      const readings: readonly (() => ServiceFindings)[] = [
        () => {
          const command = { dataDir: directory, configPath: path('a'), settings: new Map() }
          return readPostgresql(createConfigReader(), command)
        },
        () => readCaddy(createConfigReader(), path('Caddyfile')),
        () => readNginx(createConfigReader(), path('nginx.conf')),
        () =>
          readApache(createConfigReader(), { configPath: path('apache.conf'), root: directory }),
      ]
      for (const read of readings) assert.throws(read, { code: 'config_too_large' })
    })
  })

  test('[ADO-2] a device and a file of the kernel are no configuration', () => {
    for (const path of [
      '/dev/zero',
      '/dev/tty',
      '/proc/self/environ',
      '/sys/kernel/uevent_seqnum',
    ]) {
      assert.equal(createConfigReader().read(path), undefined)
      const present = readPresentFile(path)
      assert.ok(typeof present === 'string')
      assert.match(present, / cannot be read/)
    }
  })

  test('[ADO-1] two ways to one place are one', async () => {
    await withFiles({}, (directory) => {
      mkdirSync(join(directory, 'real'))
      symlinkSync('real', join(directory, 'alias'))
      const reader = createConfigReader()
      assert.equal(
        reader.place(join(directory, 'alias/x')),
        join(realpathSync(directory), 'real/x'),
      )
      assert.equal(reader.place('/none/such/x'), '/none/such/x')
    })
  })

  test('[ADO-2] a port that is none is nowhere to ask', () => {
    const reader = readerOf({ '/data/postgresql.conf': 'ssl = on\nport = 99999\n' })
    const command = parsePostgresqlCommand(['-D', '/data'])
    assert.ok(command)
    assert.deepEqual(readPostgresql(reader, command).uses[0]?.listeners, [])
    const other = { ...command, settings: new Map([['port', 'x']]) }
    assert.deepEqual(readPostgresql(reader, other).uses[0]?.listeners, [])
    assert.equal(parseListener('a.test:65536', 443), undefined)
    assert.equal(parseListener('0', 443), undefined)
    assert.deepEqual(parseListener('65535', 443), { host: '127.0.0.1', port: 65_535 })
  })
})

describe('patterns of includes', () => {
  test('[ADO-1] are those of the shell', () => {
    const reader = readerOf({ '/d/a.conf': '', '/d/b1.conf': '', '/d/.c.conf': '', '/e/x': '' })
    assert.deepEqual(reader.expand('/d/*.conf'), ['/d/a.conf', '/d/b1.conf'])
    assert.deepEqual(reader.expand('/d/[a-c]?.conf'), ['/d/b1.conf'])
    assert.deepEqual(reader.expand('/d/[!a]*'), ['/d/b1.conf'])
    assert.deepEqual(reader.expand('/*/x'), ['/e/x'])
    assert.deepEqual(reader.expand('/e/x'), ['/e/x'])
    assert.deepEqual(reader.expand('relative/*'), [])
  })

  test('[ADO-2] none of them is slow', () => {
    const startedMs = performance.now()
    const list = (): string[] => ['a'.repeat(250)]
    assert.deepEqual(expandPattern(`/${'*a'.repeat(100)}b`, list), [])
    assert.ok(performance.now() - startedMs < 1000)
  })
})
