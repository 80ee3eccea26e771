// A token for a host, or one for each of some hosts.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies } from '../../api/operations.ts'
import { parseDurationText } from '../../parts/duration-text.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { findNoName, readLines } from '../../parts/read-lines.ts'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import { parseLabels } from './describe-enrolment.ts'

/** More of them are a file for svc. */
const HOSTS_MAX = 50

export function CreateTokenDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (token: AdminReplies['createToken']) => void
  readonly onClose: () => void
}): JSX.Element {
  const { enrolment: text, acts } = words()
  const act = useAct('createToken')
  const [hosts, setHosts] = useState('')
  const [role, setRole] = useState('')
  const [ttl, setTtl] = useState('')
  const [labels, setLabels] = useState('')
  const [isAgain, setAgain] = useState(false)
  const hostnames = readLines(hosts)
  const noName = findNoName(hostnames)
  const given = parseLabels(labels)
  const seconds = parseDurationText(ttl)
  const isTtlFaulty = ttl.trim() !== '' && seconds === undefined
  const isTooMany = hostnames.length > HOSTS_MAX
  const areNamed = hostnames.length > 0 && noName === undefined && !isTooMany
  const isReady = areNamed && role.trim() !== '' && given !== undefined && !isTtlFaulty
  const submit = async (): Promise<void> => {
    for (const [at, hostname] of hostnames.entries()) {
      const request = {
        hostname,
        role: role.trim(),
        ...(given !== undefined && Object.keys(given).length > 0 && { labels: given }),
        ...(seconds !== undefined && { ttl_seconds: seconds }),
        ...(isAgain && { reenroll: true }),
      }
      const token = await act.run(request, { about: text.againTitle(hostname, request.role) })
      if (token === undefined) {
        // What is left in the field are those that have no token yet.
        setHosts(hostnames.slice(at).join('\n'))
        return
      }
      onCreated(token)
    }
    onClose()
  }
  return (
    <FormDialog
      title={text.newToken}
      label={acts.create}
      isReady={isReady}
      isBusy={act.isBusy}
      error={act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextField
        label={text.hostnames}
        value={hosts}
        onValue={setHosts}
        rows={2}
        hint={text.hostnamesHint}
        fault={isTooMany ? text.tooMany(HOSTS_MAX) : noName && acts.noName(noName)}
      />
      <TextField label={text.role} value={role} onValue={setRole} hint={text.roleHint} />
      <TextField
        label={text.life}
        value={ttl}
        onValue={setTtl}
        isOptional
        hint={text.lifeHint}
        fault={isTtlFaulty ? acts.noDuration : undefined}
      />
      <TextField
        label={text.labels}
        value={labels}
        onValue={setLabels}
        isOptional
        rows={2}
        hint={text.labelsHint}
        fault={given === undefined ? text.noLabels : undefined}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={isAgain}
          onChange={({ currentTarget }) => setAgain(currentTarget.checked)}
        />
        <span>{text.again}</span>
      </label>
    </FormDialog>
  )
}
