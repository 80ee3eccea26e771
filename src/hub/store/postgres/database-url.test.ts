import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../../../test/support/property.ts'
import { type DatabaseUrl, isFault, parseDatabaseUrl } from './database-url.ts'

function read(text: string): DatabaseUrl {
  const url = parseDatabaseUrl(text)
  assert.ok(!isFault(url), `${text} is refused: ${isFault(url) ? url.fault : ''}`)
  return url
}

function faultOf(text: string): string {
  const url = parseDatabaseUrl(text)
  assert.ok(isFault(url), `${text} is taken`)
  return url.fault
}

const hostsOf = (text: string): string[] =>
  read(text).hosts.map(({ host, port }) => `${host} ${port}`)

describe('[DBS-1] the URL of the database', () => {
  test('names hosts in their order, a database, a user, and how the hub proves who they are', () => {
    const { password, ...url } = read(
      'postgresql://svc:pw@db1:5433,db2,[2001:db8::1]:5434,192.0.2.1/cartorio?sslmode=verify-full&sslrootcert=%2Fetc%2Froot.pem',
    )
    assert.deepEqual(url, {
      hosts: [
        { host: 'db1', port: 5433 },
        { host: 'db2', port: 5432 },
        { host: '2001:db8::1', port: 5434 },
        { host: '192.0.2.1', port: 5432 },
      ],
      database: 'cartorio',
      user: 'svc',
      tls: { rootsPath: '/etc/root.pem', client: undefined },
    })
    assert.equal(password?.reveal(), 'pw')
  })

  test('decodes what is percent-encoded', () => {
    const url = read('postgres://s%40c:p%2F%3F%23%40%3A%25w@h/c%2Fd?sslrootcert=/a/ra%C3%ADz.pem')
    assert.deepEqual([url.user, url.database, url.tls?.rootsPath], ['s@c', 'c/d', '/a/raíz.pem'])
    assert.equal(url.password?.reveal(), 'p/?#@:%w')
  })

  test('takes directories of Unix sockets, as parameters or percent-encoded', () => {
    const socket = 'postgresql:///cartorio?host=/run/postgresql&user=svc'
    assert.deepEqual(hostsOf(socket), ['/run/postgresql 5432'])
    assert.deepEqual([read(socket).user, read(socket).tls], ['svc', undefined])
    assert.deepEqual(hostsOf('postgresql://svc@/c?host=/a,/b&port=5433'), ['/a 5433', '/b 5433'])
    assert.deepEqual(hostsOf('postgresql://svc:x@%2Frun%2Fpg:5434/c'), ['/run/pg 5434'])
  })

  test('refuses what is none, without a word of it', () => {
    for (const [text, why] of [
      ['', /^it is not a URL such as postgresql:\/\/svc@db1,db2\/cartorio\?sslmode=verify-full$/],
      ['mysql://svc@db/c', /^it is not a URL/],
      ['host=db user=svc', /^it is not a URL/],
      ['postgresql://svc:p@w@db/c', /must be percent-encoded, also in the password/],
      ['postgresql://svc:p/w@db/c', /must be percent-encoded/],
      ['postgresql://svc:p?w@db/c', /must be percent-encoded/],
      ['postgresql://svc:p#w@db/c', /must be percent-encoded/],
      ['postgresql://svc@db/c#x', /^it is not a URL/],
      ['postgresql://svc@db/c/d', /^it is not a URL/],
      ['postgresql://svc:100%@db/c', /not percent-encoded/],
      ['postgresql://svc:%00@db/c', /not percent-encoded/],
      ['postgresql://svc@db', /names no database/],
      ['postgresql://svc@db/', /names no database/],
      ['postgresql://db/c', /names no user/],
      ['postgresql://:pw@db/c', /names no user/],
      ['postgresql://svc@db/c?user=svc', /names a user twice/],
      ['postgresql://svc@/c', /^host 1 is not a name or an address/],
      ['postgresql://svc@db,,db/c', /^host 2 is not/],
      ['postgresql://svc@db:x/c', /^host 1 is not/],
      ['postgresql://svc@db:0/c', /^host 1 is not/],
      ['postgresql://svc@db:65536/c', /^host 1 is not/],
      ['postgresql://svc@::1/c', /^host 1 is not/],
      ['postgresql://svc@[db]/c', /^host 1 is not/],
      ['postgresql://svc@d b/c', /^host 1 is not/],
      [`postgresql://svc@${'db,'.repeat(8)}db/c`, /^it names more than 8 hosts$/],
      ['postgresql://svc@db/c?host=db', /parameters only where the URL names no host/],
      [`postgresql://svc@db/${'c'.repeat(8192)}`, /^it has more than 8192 characters$/],
      ['postgresql://svc@db/c?password=x', /^the password belongs before the @/],
      ['postgresql://svc@db/c?sslmode', /^the parameter sslmode has no value/],
      ['postgresql://svc@db/c?sslcert=a&sslcert=b', /^the parameter sslcert is there twice$/],
      ['postgresql://svc@db/c?&', /^it has a parameter without a proper name$/],
    ] as const) {
      assert.match(faultOf(text), why, text)
    }
  })

  test('[DBS-2] names a parameter that nobody knows, and the nearest one', () => {
    assert.equal(
      faultOf('postgresql://svc@db/c?sslmod=verify-full'),
      'it has a parameter sslmod that the hub does not know; did you mean sslmode?',
    )
    assert.equal(
      faultOf('postgresql://svc@db/c?application_name=x'),
      'it has a parameter application_name that the hub does not know; it may have host, port, user, sslmode, sslrootcert, sslcert, sslkey',
    )
  })
})

describe('[DBS-3] TLS', () => {
  test('is verified in full wherever anybody could be on the way', () => {
    const verified = { rootsPath: undefined, client: undefined }
    for (const hosts of ['db', '192.0.2.1', 'localhost.example', '127.0.0.1.example', '[::2]']) {
      assert.deepEqual(read(`postgresql://svc@${hosts}/c`).tls, verified, hosts)
    }
    for (const hosts of ['db', 'localhost,db', '127.0.0.1.example', '%2Frun,db']) {
      assert.equal(
        faultOf(`postgresql://svc@${hosts}/c?sslmode=disable`),
        'sslmode=disable is for loopback and Unix sockets: verify-full',
        hosts,
      )
      for (const mode of ['allow', 'prefer', 'require', 'verify-ca']) {
        assert.equal(
          faultOf(`postgresql://svc@${hosts}/c?sslmode=${mode}`),
          `sslmode=${mode} is less than verify-full: anybody on the way could be the database`,
        )
      }
    }
  })

  test('may be left out on this machine, or asked for', () => {
    for (const hosts of ['localhost', '127.0.0.2:5433', '[::1]', '%2Frun', 'localhost,[::1]']) {
      assert.equal(read(`postgresql://svc@${hosts}/c`).tls, undefined, hosts)
      assert.equal(read(`postgresql://svc@${hosts}/c?sslmode=disable`).tls, undefined, hosts)
    }
    const verified = read('postgresql://svc@localhost/c?sslmode=verify-full&sslrootcert=system').tls
    assert.deepEqual(verified, { rootsPath: undefined, client: undefined })
    assert.match(
      faultOf('postgresql://svc@localhost/c?sslrootcert=/r'),
      /need sslmode=verify-full$/,
    )
    assert.match(faultOf('postgresql://svc@localhost/c?sslmode=no-verify'), /^sslmode is/)
  })

  test('[DBS-4] may have a certificate of the hub, with its key', () => {
    const { tls } = read('postgresql://svc@db/c?sslcert=/c.pem&sslkey=/k.pem')
    assert.deepEqual(tls?.client, { certificatePath: '/c.pem', keyPath: '/k.pem' })
    for (const half of ['sslcert', 'sslkey']) {
      assert.equal(faultOf(`postgresql://svc@db/c?${half}=/x`), 'sslcert and sslkey go together')
    }
  })
})

describe('[DBS-5] the password', () => {
  /** Words that no message has, between what ends or bends a URL. */
  const word = fc.nat({ max: 0xffff }).map((number) => `zq${number.toString(36)}xj`)
  const bend = fc.constantFrom(
    ...Array.from('@:/?#%&=[],+ \0\n\\'),
    '%2',
    '%40',
    '?a=',
    '&b=',
    '@db/c?',
  )
  const raw = fc
    .array(fc.oneof(word, bend), { minLength: 1, maxLength: 8 })
    .map((parts) => parts.join(''))
  const rest = fc.constantFrom('@db/c', '@db', '@/c', '@db:x/c?y=1', '@db/c?sslmode=require', '/c')

  test('is in no message, however wrong the URL is', () => {
    fc.assert(
      fc.property(raw, rest, (password, after) => {
        const url = parseDatabaseUrl(`postgresql://svc:${password}${after}`)
        if (!isFault(url)) {
          assert.ok(!JSON.stringify({ password: url.password, tls: url.tls }).includes('zq'))
          return
        }
        // Without any @ there is no telling what was meant for one: a name after ? is then a parameter's.
        if (after.includes('@')) assert.ok(!url.fault.includes('zq'), url.fault)
      }),
      propertyRuns(2000),
    )
  })

  test('comes back as it was when it is percent-encoded', () => {
    fc.assert(
      fc.property(raw, (password) => {
        const url = parseDatabaseUrl(`postgresql://svc:${encodeURIComponent(password)}@db/c`)
        if (password.includes('\0')) assert.ok(isFault(url))
        else assert.equal(isFault(url) ? url.fault : url.password?.reveal(), password)
      }),
      propertyRuns(500),
    )
  })

  test('any text is a URL or a fault', () => {
    const pieces = fc.array(
      fc.oneof(bend, word, fc.constantFrom('postgresql://', 'svc@', 'db1', '[::1]', 'host=/a')),
    )
    const like = pieces.map((parts) => `postgresql://${parts.join('')}`)
    fc.assert(
      fc.property(fc.oneof(anyText(), like), (text) => {
        const url = parseDatabaseUrl(text)
        if (isFault(url)) assert.ok(url.fault.length > 0)
        else assert.ok(url.hosts.length > 0 && url.user !== '' && url.database !== '')
      }),
      propertyRuns(2000),
    )
  })
})
