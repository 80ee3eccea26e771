import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { systemClock } from '../platform/clock.ts'
import { parseCertificatePem } from '../pki/certificates.ts'
import { createCaDirectory, loadCaDirectory } from './ca-directory.ts'
import { hubSettingsOf, renderForShell } from './hub-settings.ts'

const SETTINGS = {
  name: 'Test',
  provisionerName: 'cartorio',
  dnsNames: ['localhost', '127.0.0.1'],
  listen: '127.0.0.1:9000',
  certDurationMs: 86_400_000,
}

describe('CA directory', () => {
  let parent = ''
  before(async () => {
    parent = await mkdtemp(join(tmpdir(), 'ca-directory-'))
  })
  after(() => rm(parent, { recursive: true, force: true }))

  test('is 0700, keys 0600, certificates 0644', async () => {
    const directory = join(parent, 'modes', 'ca')
    await createCaDirectory(directory, SETTINGS, systemClock)
    const modeOf = async (name: string): Promise<string> =>
      ((await stat(join(directory, name))).mode & 0o777).toString(8)
    const modes = Object.fromEntries(
      await Promise.all((await readdir(directory)).map(async (name) => [name, await modeOf(name)])),
    ) as Record<string, string>
    assert.equal(await modeOf('.'), '700')
    assert.deepEqual(modes, {
      'ca.json': '600',
      'intermediate.crt': '644',
      'intermediate.key': '600',
      'provisioner.jwk': '600',
      'root.crt': '644',
      'root.key': '600',
    })
  })

  test('[DCA-1] holds a root and an intermediate that it signed', async () => {
    const directory = join(parent, 'chain')
    await createCaDirectory(directory, SETTINGS, systemClock)
    const files = await loadCaDirectory(directory)
    const root = parseCertificatePem(files.rootPem)
    const intermediate = parseCertificatePem(files.intermediatePem)
    assert.ok(root.x509.ca && intermediate.x509.ca)
    assert.ok(intermediate.x509.checkIssued(root.x509))
    assert.ok(intermediate.x509.verify(root.x509.publicKey))
    assert.ok(intermediate.publicKeySpki.equals(files.intermediateKey.publicKeySpki))
  })

  test('may be an empty directory before', async () => {
    const directory = join(parent, 'empty')
    await mkdir(directory)
    await createCaDirectory(directory, SETTINGS, systemClock)
  })

  test('is never made where there is one', async () => {
    const directory = join(parent, 'twice')
    await createCaDirectory(directory, SETTINGS, systemClock)
    const rootBefore = await readFile(join(directory, 'root.crt'), 'utf8')
    await assert.rejects(createCaDirectory(directory, SETTINGS, systemClock), {
      message: `CA already initialised at ${directory}`,
    })
    assert.equal(await readFile(join(directory, 'root.crt'), 'utf8'), rootBefore)
  })

  test('is never made among other files, and leaves nothing behind', async () => {
    const directory = join(parent, 'others')
    await mkdir(directory)
    await writeFile(join(directory, 'note.txt'), 'mine')
    await assert.rejects(createCaDirectory(directory, SETTINGS, systemClock), /is not empty$/)
    assert.deepEqual(await readdir(directory), ['note.txt'])
    assert.deepEqual(
      (await readdir(parent)).filter((name) => name.startsWith('.')),
      [],
    )
  })

  test('is missed by name when a file is not there', async () => {
    await assert.rejects(
      loadCaDirectory(join(parent, 'none')),
      /^UserError: no CA at .*ca\.json is missing$/,
    )
  })

  test('does not quote a damaged key', async () => {
    const directory = join(parent, 'damaged')
    await createCaDirectory(directory, SETTINGS, systemClock)
    await writeFile(join(directory, 'provisioner.jwk'), '{"d":"SECRET')
    await assert.rejects(loadCaDirectory(directory), (error) => {
      assert.match(String(error), /is damaged$/)
      assert.doesNotMatch(String(error), /SECRET/)
      return true
    })
  })

  test('[DCA-1] prints the four settings of a hub for a shell, quoted', async () => {
    const directory = join(parent, "it's here")
    await createCaDirectory(directory, SETTINGS, systemClock)
    const settings = hubSettingsOf(directory, await loadCaDirectory(directory))
    const lines = renderForShell(settings).trimEnd().split('\n')
    assert.deepEqual(
      lines.map((line) => line.split('=')[0]),
      [
        'export SVC_CA_URL',
        'export SVC_CA_PROVISIONER_KID',
        'export SVC_CA_PROVISIONER_KEY',
        'export SVC_CA_ROOT_CA_PATH',
      ],
    )
    assert.equal(settings.SVC_CA_URL, 'https://127.0.0.1:9000')
    assert.equal(lines[3], `export SVC_CA_ROOT_CA_PATH='${parent}/it'\\''s here/root.crt'`)
  })
})
