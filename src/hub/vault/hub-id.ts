// By which the hubs that share a vault know one another. It is in a file of its own beside the vault: config.json is the same for all of
// them, and goes from one to another.

import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { SvcError } from '../../platform/errors.ts'
import { readTextIfPresent, replaceFile } from '../../platform/files.ts'

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\n$/
const BYTES_MAX = 64

/** Makes one at the first start. Throws SvcError `hub_id_invalid`. */
export async function openHubId(vaultRoot: string): Promise<string> {
  const known = await readHubId(vaultRoot)
  if (known !== undefined) return known
  const id = randomUUID()
  await replaceFile(pathOf(vaultRoot), `${id}\n`, 0o600)
  return id
}

/** Undefined before the first start. Throws SvcError `hub_id_invalid`. */
export async function readHubId(vaultRoot: string): Promise<string | undefined> {
  const path = pathOf(vaultRoot)
  const text = await readTextIfPresent(path, BYTES_MAX)
  if (text === undefined) return undefined
  if (UUID.test(text)) return text.trim()
  throw new SvcError('hub_id_invalid', `${path} is not the id of a hub`, {
    hint: 'remove the file: the hub makes another one, and is another hub to the others',
  })
}

function pathOf(vaultRoot: string): string {
  return join(vaultRoot, 'hub.id')
}
