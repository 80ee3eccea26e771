// Simulations want a disk that is quick, and need none that lasts.

import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exists } from '../../src/platform/files.ts'

const MEMORY = '/dev/shm'

export async function makeQuickDirectory(prefix: string): Promise<string> {
  return mkdtemp(join((await exists(MEMORY)) ? MEMORY : tmpdir(), prefix))
}
