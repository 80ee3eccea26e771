import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createPrivateKey, X509Certificate } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, createSecureContext, createServer } from 'node:tls'
import { createPairMaterial } from '../../../test/support/pair-material.ts'
import type { KeyType } from '../../pki/keys.ts'
import { type PairMaterial, renderContent } from './render-content.ts'
import type { PemPart } from './target.ts'

const PASSWORD = 'a pass~word 1'

let directory: string
before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'render-content-'))
})
after(() => rm(directory, { recursive: true }))

describe('PEM', () => {
  const blocks = (pem: string): string[] =>
    [...pem.matchAll(/-----BEGIN ([A-Z ]+)-----\n[^-]+-----END \1-----\n/g)].map(([block]) => block)

  test('[TGT-10] holds the blocks asked for, in the order asked for, and nothing else', async () => {
    const material = await createPairMaterial()
    const of: Record<PemPart, string> = {
      cert: material.leafPem,
      chain: material.chainPems.join(''),
      key: material.keyPem,
      ca: material.caPem,
    }
    const orders: PemPart[][] = [
      ['cert'],
      ['cert', 'chain'],
      ['key', 'cert', 'chain', 'ca'],
      ['ca', 'key'],
    ]
    for (const parts of orders) {
      const text = Buffer.from(await renderContent({ format: 'pem', parts }, material)).toString(
        'ascii',
      )
      assert.equal(text, parts.map((part) => of[part]).join(''))
      assert.equal(blocks(text).join(''), text)
    }
  })

  test('[TGT-10] is written anew: what stood around, after or inside the blocks is not copied', async () => {
    const clean = await createPairMaterial()
    const dirty: PairMaterial = {
      leafPem: `env LD_PRELOAD=/x\n${clean.leafPem.replaceAll('\n', '\r\n')}\n`,
      chainPems: clean.chainPems.map((pem) => `${pem}\nssl_engine evil;\n`),
      keyPem: `# comment\n${clean.keyPem}trailer\n`,
      caPem: `a\n${clean.caPem}b\n${clean.caPem}c`,
    }
    const parts: PemPart[] = ['cert', 'chain', 'key', 'ca']
    const rendered = await renderContent({ format: 'pem', parts }, dirty)
    assert.equal(
      Buffer.from(rendered).toString('ascii'),
      clean.leafPem + clean.chainPems.join('') + clean.keyPem + clean.caPem + clean.caPem,
    )
  })

  test('[TGT-10] an older encoding of a key becomes PKCS#8', async () => {
    const material = await createPairMaterial()
    const sec1 = createPrivateKey(material.keyPem).export({ type: 'sec1', format: 'pem' })
    const rendered = await renderContent(
      { format: 'pem', parts: ['key'] },
      { ...material, keyPem: sec1.toString() },
    )
    assert.equal(Buffer.from(rendered).toString('ascii'), material.keyPem)
  })
})

describe('PKCS#12', () => {
  const types: KeyType[] = ['ec-p256', 'ec-p384', 'rsa-2048', 'ed25519']
  for (const type of types) {
    test(`[TGT-11] with a key of type ${type} is read by openssl and Node as it was put in`, async () => {
      const material = await createPairMaterial(type)
      const path = join(directory, `${type}.p12`)
      const pfx = await encode(material, PASSWORD)
      await writeFile(path, pfx, { mode: 0o600 })
      checkByOpenssl(path, material)
      await checkByNode(pfx, material)
    })
  }

  test('[TGT-11] another password opens nothing', async () => {
    const pfx = await encode(await createPairMaterial(), PASSWORD)
    const path = join(directory, 'locked.p12')
    await writeFile(path, pfx, { mode: 0o600 })
    assert.notEqual(openssl(path, 'another', []).status, 0)
    assert.throws(() => createSecureContext({ pfx: Buffer.from(pfx), passphrase: 'another' }))
    assert.ok(!Buffer.from(pfx).includes('test intermediate'), 'names are not encrypted')
  })

  const unusable = [
    ['', 'the password is empty'],
    ['senha-não', 'the password has characters besides printable ASCII'],
    ['a\tb', 'the password has characters besides printable ASCII'],
    ['a\0b', 'the password has characters besides printable ASCII'],
    ['x'.repeat(1025), 'the password has more than 1024 characters'],
  ] as const
  for (const [password, message] of unusable) {
    test(`[TGT-11] is refused when ${message}: ${JSON.stringify(password.slice(0, 10))}`, async () => {
      const material = await createPairMaterial()
      await assert.rejects(encode(material, password), { code: 'password_unusable', message })
    })
  }

  test('[TGT-11] takes printable ASCII of every kind, blanks at the ends too', async () => {
    const password = ` ${Array.from({ length: 94 }, (_, at) => String.fromCharCode(33 + at)).join('')} `
    const material = await createPairMaterial()
    const path = join(directory, 'ascii.p12')
    const pfx = await encode(material, password)
    await writeFile(path, pfx, { mode: 0o600 })
    assert.equal(openssl(path, password, ['-nokeys']).status, 0)
    createSecureContext({ pfx: Buffer.from(pfx), passphrase: password })
  })
})

async function encode(material: PairMaterial, password: string): Promise<Uint8Array> {
  return renderContent({ format: 'pkcs12', passwordFile: '/unused' }, material, password)
}

function openssl(path: string, password: string, args: string[]) {
  return spawnSync('openssl', ['pkcs12', '-in', path, '-passin', 'stdin', ...args], {
    input: `${password}\n`,
    encoding: 'utf8',
  })
}

function checkByOpenssl(path: string, { leafPem, chainPems, keyPem }: PairMaterial): void {
  const read = openssl(path, PASSWORD, ['-nodes'])
  assert.equal(read.status, 0, read.stderr)
  const certificates = read.stdout.match(/-----BEGIN CERT[^]+?-----END CERTIFICATE-----\n/g)
  assert.deepEqual(certificates, [leafPem, ...chainPems])
  assert.ok(read.stdout.includes(keyPem))
  assert.equal(read.stdout.match(/localKeyID: /g)?.length, 2)
  const { stderr } = openssl(path, PASSWORD, ['-info', '-noout'])
  assert.match(stderr, /MAC: sha256, Iteration 100000\n/)
  const encryption = /PBES2, PBKDF2, AES-256-CBC, Iteration 100000, PRF hmacWithSHA256/g
  assert.equal(stderr.match(encryption)?.length, 2)
}

async function checkByNode(pfx: Uint8Array, { leafPem, caPem }: PairMaterial): Promise<void> {
  const server = createServer({ pfx: Buffer.from(pfx), passphrase: PASSWORD }, (socket) =>
    socket.end(),
  )
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  try {
    const address = server.address()
    assert.ok(address !== null && typeof address === 'object')
    const fingerprint = await new Promise((resolve, reject) => {
      const socket = connect(
        { host: '127.0.0.1', port: address.port, ca: caPem, servername: 'web-1' },
        () => {
          resolve(socket.getPeerX509Certificate()?.fingerprint256)
          socket.destroy()
        },
      )
      socket.once('error', reject)
    })
    assert.equal(fingerprint, new X509Certificate(leafPem).fingerprint256)
  } finally {
    server.close()
  }
}
