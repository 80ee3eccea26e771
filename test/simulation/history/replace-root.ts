// The CA's root is replaced, as docs/protocol.md TRU has it: both roots are trusted, everybody has said so, the CA signs by
// the new one, the old one goes as soon as the hub lets it. Nobody forces anything, and so nobody may be lost.

import type { SimulatedCa } from '../simulated-authority.ts'
import type { AskHub } from './admin-socket.ts'
import type { Faults } from './faults.ts'
import type { Kernel } from './kernel.ts'

export interface RootReplacement {
  readonly kernel: Kernel
  readonly faults: Faults
  readonly ca: SimulatedCa
  /** That of SVC_CA_ROOT_CA_PATH, which a start of the hub looks at too. */
  readonly rootFile: { pem: string }
  readonly ask: AskHub
  readonly note: (text: string) => void
}

const MINUTE_MS = 60_000
const BEGIN_MS_MAX = 30 * MINUTE_MS
const PAUSE_MS_MAX = 8 * MINUTE_MS
const UPDATE_LIKELIHOOD = 0.7

/** As long as there is trouble; it may be left half done. */
export async function replaceRoot(replacement: RootReplacement): Promise<void> {
  const { kernel, faults, ca, rootFile, ask, note } = replacement
  const { random } = kernel
  const update = () => ask('bundle update', (admin) => admin.updateBundle({}))
  await kernel.sleep(random() * BEGIN_MS_MAX)
  rootFile.pem = ca.rootPem + ca.nextRootPem
  note('the root file has both roots')
  while (!(await isEverybodyReady(ask))) {
    await kernel.sleep(random() * PAUSE_MS_MAX)
    if (faults.isOver) return
    if (random() < UPDATE_LIKELIHOOD) await update()
  }
  ca.changeRoot()
  note('the CA signs by its next root')
  await kernel.sleep(random() * PAUSE_MS_MAX)
  rootFile.pem = ca.nextRootPem
  note('the root file has the next root alone')
  for (;;) {
    await kernel.sleep(random() * PAUSE_MS_MAX)
    if (faults.isOver) return
    const updated = await update()
    if (updated.ok && updated.value.roots.length === 1) return
  }
}

async function isEverybodyReady(ask: AskHub): Promise<boolean> {
  const shown = await ask('bundle status', (admin) => admin.showBundle({}))
  return shown.ok && shown.value.roots.length === 2 && shown.value.pendentes.length === 0
}
