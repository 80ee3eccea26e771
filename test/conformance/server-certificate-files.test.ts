// A hub that cannot read or write the files of its own certificate: docs/protocol.md VLT-9 and BOOT-19.

import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  copyFile,
  lchown,
  mkdir,
  readdir,
  readFile,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { type Ended, runProgram, type Variables } from '../support/processes.ts'
import { useHub } from '../support/use-hub.ts'

const NOBODY = 65_534

/** Ran once, so that everything that a hub keeps is there, and does not run. */
const { hub } = useHub(async (listening) => {
  await listening.stop()
  // Where whoever the hub becomes can read it.
  await copyFile(listening.environment['SVC_CA_ROOT_CA_PATH'] ?? '', rootPathOf(listening))
  await chmod(rootPathOf(listening), 0o644)
  await chmod(listening.directory, 0o755)
})

function rootPathOf({ directory }: { readonly directory: string }): string {
  return join(directory, 'root.pem')
}

async function assertFails(message: string, extra: Variables = {}): Promise<Ended> {
  const variables = { ...hub.environment, SVC_CA_ROOT_CA_PATH: rootPathOf(hub), ...extra }
  const ended = await runProgram('svc-server', [], variables)
  assert.equal(ended.status, 1, ended.stderr)
  assert.ok(ended.stderr.includes(`svc-server: error: ${message}\n`), ended.stderr)
  assert.match(ended.stderr, /^svc-server: hint: /m)
  assert.doesNotMatch(ended.stderr, /internal error|^ +at /m)
  return ended
}

/** Does the work with something else in the place of a file of the vault, and puts it back. */
async function without(
  name: string,
  arrange: (path: string) => Promise<unknown>,
  work: (path: string) => Promise<unknown>,
): Promise<void> {
  const path = join(hub.vaultRoot, name)
  const content = await readFile(path)
  try {
    await arrange(path)
    await work(path)
  } finally {
    await rm(path, { recursive: true })
    await writeFile(path, content, { mode: 0o600 })
  }
}

async function chownVault(owner: number): Promise<void> {
  for (const name of ['.', ...(await readdir(hub.vaultRoot))]) {
    await lchown(join(hub.vaultRoot, name), owner, owner)
  }
}

const beADirectory = async (path: string): Promise<void> => {
  await rm(path)
  await mkdir(path)
}

for (const name of ['server.key', 'server.crt']) {
  const obstacles = {
    EISDIR: beADirectory,
    ELOOP: async (path: string) => {
      await rm(path)
      await symlink(name, path)
    },
  }
  for (const [code, arrange] of Object.entries(obstacles)) {
    test(`[BOOT-19] ${name} that cannot be read (${code}) is named, with a hint`, () =>
      without(name, arrange, (path) => assertFails(`cannot read ${path}: ${code}`)))
  }
}

test('[BOOT-19] a server.key of somebody else is named, with a hint', async () => {
  // Root first becomes the owner of the vault, and can read whatever it likes unless that is another.
  const isRoot = process.getuid?.() === 0
  if (isRoot) await chownVault(NOBODY)
  const arrange = (path: string): Promise<void> => (isRoot ? chown(path, 0, 0) : chmod(path, 0))
  try {
    await without('server.key', arrange, (path) => assertFails(`cannot read ${path}: EACCES`))
  } finally {
    if (isRoot) await chownVault(0)
  }
})

test('[BOOT-19] a certificate that cannot be stored is an error with a hint', () =>
  without('ca.crt', beADirectory, () =>
    assertFails(`cannot store the server certificate in ${hub.vaultRoot}: EISDIR`, {
      SVC_SERVER_CN: 'renamed.test',
    }),
  ))

test('[VLT-9] with everything put back it starts again', async () => {
  await hub.start()
  assert.equal((await hub.stop()).status, 0)
})
