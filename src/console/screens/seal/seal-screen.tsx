// Sealing a file: on the page that svc serves on this machine, and on the hub's own page where its operator permits it. Otherwise the
// hub's page says why not, and how else.

import { useEffect, useState } from 'preact/hooks'
import type { JSX } from 'preact'
import { findSealingPlace, type SealingPlace } from '../../api/sealing-place.ts'
import { useQuery } from '../../api/query.ts'
import { svc } from '../../commands/svc.ts'
import { here, hrefOf } from '../../frame/router.ts'
import { Screen } from '../../frame/screen.tsx'
import { Answer, Failure, Notice } from '../../parts/answer.tsx'
import { Command } from '../../parts/command.tsx'
import { IfAllowed } from '../../parts/if-allowed.tsx'
import { words } from '../../words/words.ts'
import { SealForm, type SealFormProperties } from './seal-form.tsx'

type Found =
  | { readonly state: 'asked' }
  | { readonly state: 'failed'; readonly error: Error }
  | { readonly state: 'found'; readonly place: SealingPlace }

export function SealScreen(): JSX.Element {
  const { seal } = words()
  const carga = here.value.query['carga']
  const [found, setFound] = useState<Found>({ state: 'asked' })
  useEffect(() => {
    findSealingPlace().then(
      (place) => setFound({ state: 'found', place }),
      (error: unknown) => setFound({ state: 'failed', error: error as Error }),
    )
  }, [])
  const command = sealCommand(carga)
  return (
    <Screen
      title={seal.title}
      wire="carga"
      above={[seal.above, hrefOf('/cargo')]}
      commands={[command]}
    >
      {found.state === 'failed' && <Failure error={found.error} />}
      {found.state === 'found' && <Place place={found.place} carga={carga} />}
    </Screen>
  )
}

function Place({
  place,
  carga,
}: {
  readonly place: SealingPlace
  readonly carga: string | undefined
}): JSX.Element {
  const { seal } = words()
  const command = sealCommand(carga)
  if (place.servedBy === 'hub' && !place.isPermitted) return <SealOff command={command} />
  const { servedBy } = place
  return (
    <IfAllowed name="createCargo">
      {place.servedBy === 'svc' ? (
        <p class="muted">{seal.intro(place.hub)}</p>
      ) : (
        <section class="card">
          <Notice title={seal.byHub} hint={seal.byHubHint}>
            <div class="commands">
              <Command text={CONSOLE} />
            </div>
          </Notice>
        </section>
      )}
      {carga === undefined ? (
        <SealForm cargo={undefined} servedBy={servedBy} />
      ) : (
        <NextForm key={carga} carga={carga} servedBy={servedBy} />
      )}
    </IfAllowed>
  )
}

function NextForm({
  carga,
  servedBy,
}: { readonly carga: string } & Pick<SealFormProperties, 'servedBy'>): JSX.Element {
  const shown = useQuery('showCargo', { carga })
  return (
    <Answer shown={shown.value}>{(cargo) => <SealForm cargo={cargo} servedBy={servedBy} />}</Answer>
  )
}

function SealOff({ command }: { readonly command: string }): JSX.Element {
  const { seal } = words()
  return (
    <section class="card">
      <Notice title={seal.off} hint={seal.offHint}>
        <div class="commands">
          <Command text={command} />
          <Command text={CONSOLE} />
        </div>
      </Notice>
    </section>
  )
}

const CONSOLE = svc.serveConsole(location.origin)

function sealCommand(carga: string | undefined): string {
  return carga === undefined ? svc.createSealed : svc.updateSealed(carga)
}
