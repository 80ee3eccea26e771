// The hub's own certificate over days, in virtual time and from a CA that can go down: docs/protocol.md VLT-10 to VLT-12.
// How it is swapped under open connections is in test/conformance/agent-connection.test.ts.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { VirtualTime } from '../../../../test/simulation/virtual-time.ts'
import { withFailingDisk } from '../../../../test/support/failing-disk.ts'
import { createIssuer, createRootPem } from '../../../dev-ca/issuer.ts'
import { parseCertificatesPem } from '../../../pki/certificates.ts'
import { generateEcP256Key, parsePrivateKeyPem } from '../../../pki/keys.ts'
import { createLogging } from '../../../platform/logger.ts'
import { CaError, type CertificateAuthority } from '../../ca/certificate-authority.ts'
import { StoreError } from '../../store/store-error.ts'
import {
  isRenewalDue,
  keepServerCertificateFresh,
  obtainServerCertificate,
  type ServerCertificate,
} from './server-certificate.ts'

const START = new Date('2026-11-21T00:00:00Z')
const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const LIFE_MS = 24 * HOUR_MS
const NAMES = ['hub.test', 'alias.test']

interface FakeAuthority extends CertificateAuthority {
  isDown: boolean
  /** On which each request is noted before it is sent. */
  isDiskFull: boolean
  lifeMs: number
  /** When it was asked to sign, in seconds since the start. */
  readonly askedAtSeconds: number[]
}

async function createFakeAuthority(time: VirtualTime): Promise<FakeAuthority> {
  const validity = { notBefore: START, notAfter: new Date(START.getTime() + 365 * LIFE_MS) }
  const [rootKey, key] = await Promise.all([generateEcP256Key(), generateEcP256Key()])
  const rootPem = await createRootPem({ commonName: 'Root', ...validity }, rootKey)
  const root = await createIssuer(rootPem, rootKey)
  const { publicKeySpki } = key
  const intermediatePem = await root.issueIntermediate({
    commonName: 'Intermediate',
    publicKeySpki,
    ...validity,
  })
  const issuer = await createIssuer(intermediatePem, key)
  const authority: FakeAuthority = {
    rootPem,
    isDown: false,
    isDiskFull: false,
    lifeMs: LIFE_MS,
    askedAtSeconds: [],
    async sign({ csr, commonName, sans }) {
      const now = time.now()
      if (authority.isDiskFull) throw new StoreError('store_unavailable', 'disk is full')
      authority.askedAtSeconds.push((now.getTime() - START.getTime()) / SECOND_MS)
      if (authority.isDown) throw new CaError('unreachable', 'nobody answers')
      const notAfter = new Date(now.getTime() + authority.lifeMs)
      const request = { publicKeySpki: csr.publicKeySpki, commonName, sans }
      const leafPem = await issuer.issueLeaf({ ...request, notBefore: now, notAfter })
      const chainPem = leafPem + intermediatePem
      const [leaf, ...intermediates] = parseCertificatesPem(chainPem)
      assert.ok(leaf)
      return { leaf, intermediates, chainPem }
    },
    revoke: async () => ({ kind: 'revoked' }),
  }
  return authority
}

interface Setting {
  readonly time: VirtualTime
  readonly authority: FakeAuthority
  readonly vaultRoot: string
  readonly logged: Readonly<Record<string, unknown>>[]
  /** Lets that much time pass. */
  pass(durationMs: number): Promise<void>
  /** As a hub that starts does it; undefined while it waits for the CA. */
  obtain(names?: readonly string[]): Promise<Obtained | undefined>
  /** As a hub that runs does it, until the test ends; what it swapped in is in the list, and the last of it in use. */
  keepFresh(first: ServerCertificate): ServerCertificate[]
}

type Obtained = Awaited<ReturnType<typeof obtainServerCertificate>>

async function withSetting(work: (setting: Setting) => Promise<void>): Promise<void> {
  const vaultRoot = await mkdtemp(join(tmpdir(), 'vault-'))
  const time = new VirtualTime(START)
  const authority = await createFakeAuthority(time)
  const logged: Setting['logged'] = []
  const destination = { write: (line: string) => void logged.push(JSON.parse(line)) }
  const logging = createLogging({ filter: { levelOf: () => 'info' }, format: 'json', destination })
  const log = logging.forModule('test')
  const stop = new AbortController()
  const dependenciesFor = (names: readonly string[]) => {
    return { authority, clock: time, log, vaultRoot, names, rootsHeldTo: async () => undefined }
  }
  const pass = (durationMs: number): Promise<void> =>
    time.runUntil(new Date(time.now().getTime() + durationMs))
  try {
    await work({
      time,
      authority,
      vaultRoot,
      logged,
      pass,
      obtain: async (names = NAMES) => {
        let obtained: Obtained | undefined
        time.start(async () => {
          obtained = await obtainServerCertificate(
            dependenciesFor(names),
            stop.signal,
            async () => undefined,
          )
        })
        await pass(0)
        return obtained
      },
      keepFresh: (first) => {
        const renewed: ServerCertificate[] = []
        const inUse = (): ServerCertificate => renewed.at(-1) ?? first
        const onRenewed = (certificate: ServerCertificate): void => void renewed.push(certificate)
        const { signal } = stop
        time.start(() =>
          keepServerCertificateFresh(dependenciesFor(NAMES), inUse, onRenewed, signal),
        )
        return renewed
      },
    })
  } finally {
    stop.abort(new Error('the test is over'))
    await pass(0).catch(() => undefined)
    await rm(vaultRoot, { recursive: true })
  }
}

async function obtainFirst(setting: Setting): Promise<ServerCertificate> {
  const obtained = await setting.obtain()
  assert.equal(obtained?.isReused, false)
  return obtained.certificate
}

async function assertPairOnDisk(vaultRoot: string, serial: string): Promise<void> {
  const certificate = new X509Certificate(await readFile(join(vaultRoot, 'server.crt')))
  const key = await readFile(join(vaultRoot, 'server.key'), 'utf8')
  assert.equal(certificate.serialNumber.toLowerCase(), serial)
  const keyPair = parsePrivateKeyPem(key)
  assert.ok(certificate.checkPrivateKey(keyPair.keyObject))
}

describe('a hub that starts', () => {
  test('[VLT-10] reuses its certificate as long as a third of its life is left', () =>
    withSetting(async (setting) => {
      const first = await obtainFirst(setting)
      await setting.pass(16 * HOUR_MS)
      const reused = await setting.obtain()
      assert.deepEqual(reused, { certificate: first, isReused: true })
      await setting.pass(SECOND_MS)
      const renewed = await setting.obtain()
      assert.equal(renewed?.isReused, false)
      assert.notEqual(renewed.certificate.serial, first.serial)
      await assertPairOnDisk(setting.vaultRoot, renewed.certificate.serial)
    }))

  for (const names of [['other.test', 'alias.test'], ['hub.test'], [...NAMES, 'more.test']]) {
    test(`[VLT-10] asks for another certificate when it is called ${names.join(', ')} now`, () =>
      withSetting(async (setting) => {
        await obtainFirst(setting)
        const renamed = await setting.obtain(names)
        assert.equal(renamed?.isReused, false)
        const leaf = new X509Certificate(renamed.certificate.chainPem)
        assert.equal(leaf.subject, `CN=${names[0]}`)
        assert.equal(leaf.subjectAltName, names.map((name) => `DNS:${name}`).join(', '))
      }))
  }

  test('[VLT-10] asks for another certificate when the key on disk is another’s', () =>
    withSetting(async (setting) => {
      const first = await obtainFirst(setting)
      const { pem } = await generateEcP256Key()
      await writeFile(join(setting.vaultRoot, 'server.key'), pem)
      const obtained = await setting.obtain()
      assert.equal(obtained?.isReused, false)
      assert.notEqual(obtained.certificate.serial, first.serial)
      await assertPairOnDisk(setting.vaultRoot, obtained.certificate.serial)
    }))

  test('[VLT-11] starts with what it has when the CA is down, and says so', () =>
    withSetting(async (setting) => {
      const first = await obtainFirst(setting)
      await setting.pass(LIFE_MS - MINUTE_MS)
      setting.authority.isDown = true
      assert.deepEqual(await setting.obtain(), { certificate: first, isReused: true })
      const { level, msg, reason } = setting.logged.at(-1) ?? {}
      assert.deepEqual(
        { level, msg, reason },
        {
          level: 'warn',
          msg: 'Server certificate not renewed, using the old one',
          reason: 'nobody answers',
        },
      )
    }))

  const unusable = {
    'no certificate': async () => undefined,
    'an expired one': async (setting: Setting) => {
      await obtainFirst(setting)
      await setting.pass(LIFE_MS + 2 * MINUTE_MS)
    },
    'one that does not parse': async (setting: Setting) => {
      await obtainFirst(setting)
      await writeFile(join(setting.vaultRoot, 'server.crt'), 'no certificate')
    },
  }
  for (const [what, arrange] of Object.entries(unusable)) {
    test(`[VLT-11] asks a CA that is down again and again when it has ${what}`, () =>
      withSetting(async (setting) => {
        await arrange(setting)
        const { authority, time, logged } = setting
        authority.isDown = true
        authority.askedAtSeconds.length = 0
        const startSeconds = (time.now().getTime() - START.getTime()) / SECOND_MS
        assert.equal(await setting.obtain(), undefined)
        await setting.pass(200 * SECOND_MS)
        assert.deepEqual(
          authority.askedAtSeconds.map((seconds) => seconds - startSeconds),
          [0, 1, 3, 7, 15, 31, 63, 123, 183],
        )
        const { level, msg, retry_in_ms } = logged.at(-1) ?? {}
        assert.deepEqual(
          { level, msg, retry_in_ms },
          { level: 'warn', msg: 'Server certificate not obtained', retry_in_ms: 60_000 },
        )
        authority.isDown = false
        await setting.pass(MINUTE_MS)
        const { certificate } = (await setting.obtain()) ?? assert.fail('it still waits')
        await assertPairOnDisk(setting.vaultRoot, certificate.serial)
        assert.equal(authority.askedAtSeconds.length, 10)
      }))
  }

  test('[VLT-11] tries again on a disk that is full', () =>
    withSetting(async (setting) => {
      const { authority, logged } = setting
      authority.isDiskFull = true
      assert.equal(await setting.obtain(), undefined)
      const { msg, reason } = logged.at(-1) ?? {}
      assert.deepEqual([msg, reason], ['Server certificate not obtained', 'disk is full'])
      authority.isDiskFull = false
      await setting.pass(MINUTE_MS)
      assert.ok(await setting.obtain(), 'it still waits')
    }))
})

describe('a renewal that is cut short', () => {
  const withRenewalDue = (
    work: (setting: Setting, current: ServerCertificate) => Promise<void>,
  ): Promise<void> =>
    withSetting(async (setting) => {
      const current = await obtainFirst(setting)
      await setting.pass(16 * HOUR_MS + SECOND_MS)
      await work(setting, current)
    })
  /** As the next boot finds it, which the CA cannot help. */
  const assertBoots = async (setting: Setting, when: string): Promise<void> => {
    setting.authority.isDown = true
    const obtained = await setting.obtain()
    assert.equal(obtained?.isReused, true, when)
    await assertPairOnDisk(setting.vaultRoot, obtained.certificate.serial)
  }
  /** Before each change of a renewal to the disk, and after the last one. */
  const atEachChange = async (work: (at: number) => Promise<void>): Promise<void> => {
    let changes = 0
    await withRenewalDue(async (setting) => {
      changes = await withFailingDisk(
        () => false,
        () => setting.obtain(),
      )
    })
    assert.ok(changes > 0, 'a renewal changes the disk')
    for (let at = 1; at <= changes + 1; at += 1) await work(at)
  }

  test('[VLT-15] leaves a matching pair, whenever a hub that starts is killed', () =>
    atEachChange((at) =>
      withRenewalDue(async (setting) => {
        await withFailingDisk(
          (change) => change >= at,
          () => setting.obtain(),
        )
        await assertBoots(setting, `killed before change ${at}`)
      }),
    ))

  test('[VLT-15] leaves a matching pair, whenever the disk of a hub that runs was full for a while before it is killed', () =>
    atEachChange((fullAt) =>
      atEachChange((at) =>
        withRenewalDue(async (setting, current) => {
          setting.keepFresh(current)
          await withFailingDisk(
            (change) => change === fullAt,
            () => setting.pass(MINUTE_MS),
          )
          await withFailingDisk(
            (change) => change >= at,
            () => setting.pass(MINUTE_MS),
          )
          await assertBoots(setting, `full at change ${fullAt}, killed before change ${at}`)
        }),
      ),
    ))
})

describe('a hub that runs', () => {
  test('[VLT-12] renews its certificate once less than a third of its life is left, again and again', () =>
    withSetting(async (setting) => {
      const first = await obtainFirst(setting)
      const renewed = setting.keepFresh(first)
      await setting.pass(16 * HOUR_MS)
      assert.equal(renewed.length, 0)
      await setting.pass(MINUTE_MS)
      assert.equal(renewed.length, 1)
      await assertPairOnDisk(setting.vaultRoot, renewed[0]?.serial ?? '')
      await setting.pass(16 * HOUR_MS + MINUTE_MS)
      assert.equal(renewed.length, 2)
      assert.equal(new Set([first, ...renewed].map(({ serial }) => serial)).size, 3)
    }))

  test('[VLT-12] goes by the life of the certificate that it uses, whoever asked for that one', () =>
    withSetting(async (setting) => {
      const renewed = setting.keepFresh(await obtainFirst(setting))
      // As when the roots change, and another CA signs for another time.
      setting.authority.lifeMs = HOUR_MS
      const other = (await setting.obtain(['hub.test'])) ?? assert.fail('no certificate')
      renewed.push(other.certificate)
      await setting.pass(40 * MINUTE_MS)
      assert.equal(renewed.length, 1)
      await setting.pass(4 * MINUTE_MS)
      assert.equal(renewed.length, 2)
    }))

  test('[VLT-12] is due as well when the clock was set back to before its certificate began', () => {
    const certificate = { notBefore: START, notAfter: new Date(START.getTime() + LIFE_MS) }
    const isDueAt = (ms: number): boolean =>
      isRenewalDue(certificate, new Date(START.getTime() + ms))
    assert.equal(isDueAt(-2 * HOUR_MS), true)
    // The CA's clock may be that much ahead.
    assert.equal(isDueAt(-MINUTE_MS), false)
    assert.equal(isDueAt(0), false)
  })

  test('[VLT-12] goes on with the one that it has while the CA is down, and asks every minute', () =>
    withSetting(async (setting) => {
      const renewed = setting.keepFresh(await obtainFirst(setting))
      const { authority, logged } = setting
      authority.isDown = true
      await setting.pass(16 * HOUR_MS + 3 * MINUTE_MS)
      assert.equal(renewed.length, 0)
      const failures = logged.filter(({ msg }) => msg === 'Server certificate not renewed')
      assert.deepEqual(
        failures.map(({ level, reason }) => [level, reason]),
        Array.from({ length: 3 }, () => ['warn', 'nobody answers']),
      )
      authority.isDown = false
      await setting.pass(MINUTE_MS)
      assert.equal(renewed.length, 1)
    }))

  test('[HUB-8] asks a CA that fails every minute, while its certificate leads to a root that another hub removed', () =>
    withSetting(async (setting) => {
      const renewed = setting.keepFresh(await obtainFirst(setting))
      const next = await createFakeAuthority(setting.time)
      next.isDown = true
      await setting.pass(MINUTE_MS)
      assert.equal(setting.authority.askedAtSeconds.length, 1)
      Object.assign(setting.authority, { rootPem: next.rootPem, sign: next.sign.bind(next) })
      await setting.pass(3 * MINUTE_MS)
      assert.deepEqual(next.askedAtSeconds, [120, 180, 240])
      next.isDown = false
      await setting.pass(HOUR_MS)
      assert.deepEqual(next.askedAtSeconds, [120, 180, 240, 300])
      assert.equal(renewed.length, 1)
      assert.equal(renewed[0]?.rootPem, next.rootPem)
    }))
})
