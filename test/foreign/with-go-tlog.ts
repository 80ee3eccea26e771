// The log by the Go project's own implementation (go-tlog/main.go), built once into the user's cache. Where there is no Go, tests of it
// skip; under CI that is an error.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SvcError } from '../../src/platform/errors.ts'
import { installOnce, placeInCache } from '../../tools/install-once.ts'
import {
  buildGoProgram,
  startTalkingProgram,
  type TalkingProgram,
} from '../../tools/talking-program.ts'

const SOURCE = fileURLToPath(new URL('go-tlog', import.meta.url))
const NAME = 'go-tlog'
const NO_GO = 'there is no Go to build go-tlog with'

async function ensureGoTlog(): Promise<string | undefined> {
  const sources = createHash('sha256')
  for (const name of ['go.mod', 'go.sum', 'main.go']) {
    sources.update(await readFile(join(SOURCE, name)))
  }
  const place = placeInCache(`${NAME}-${sources.digest('hex').slice(0, 16)}`)
  let hasGo = true
  try {
    await installOnce(place, async (staging) => {
      hasGo = buildGoProgram(SOURCE, join(staging, NAME))
      if (!hasGo) throw new SvcError('no_go', NO_GO)
    })
  } catch (error) {
    if (hasGo || process.env['CI'] === 'true') throw error
    return undefined
  }
  return join(place, NAME)
}

const program = await ensureGoTlog()

export const WITH_GO_TLOG: { readonly skip: string | false } = {
  skip: program === undefined && NO_GO,
}

export function startGoTlog(): TalkingProgram {
  return startTalkingProgram(NAME, [program ?? NAME])
}
