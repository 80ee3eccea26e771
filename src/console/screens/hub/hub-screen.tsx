// The hubs that share the vault, and where the log is kept: its checkpoints, who else has signed them, and old entries. It only shows:
// what acts here needs files or keys, so each part has the command of `svc`.

import type { JSX } from 'preact'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { Screen } from '../../frame/screen.tsx'
import { words } from '../../words/words.ts'
import { CheckpointsCard } from './checkpoints-card.tsx'
import { HubsCard } from './hubs-card.tsx'
import { SegmentsCard } from './segments-card.tsx'
import { WitnessesCard } from './witnesses-card.tsx'

/** The hub looks at its disk and asks its CA for it, and nobody waits for what changed there. */
const EXAMINED_MS = 30_000
/** Each entry is followed by a checkpoint, up to a second later, and no bell rings for that. */
const SIGNED = { paceMs: 5000, goesWithTime: true }

export function HubScreen(): JSX.Element {
  const { hub } = words()
  const examined = useQuery('showExamination', {}, { paceMs: EXAMINED_MS })
  const signed = useQuery('showCheckpoint', {}, SIGNED)
  return (
    <Screen
      title={hub.title}
      commands={[svc.listHubs, svc.showStandby, svc.showCheckpoint, svc.listSegments]}
    >
      <HubsCard />
      <div class="two">
        <CheckpointsCard signed={signed.value} examined={examined.value} />
        <WitnessesCard signed={signed.value} />
      </div>
      <SegmentsCard examined={examined.value} />
    </Screen>
  )
}
