// A join rule by a token that many hosts use, or by tokens of an issuer; the other methods take files, which svc reads.

import { useState } from 'preact/hooks'
import type { JSX } from 'preact'
import type { AdminReplies, AdminRequest } from '../../api/operations.ts'
import { svc } from '../../commands/svc.ts'
import { Command } from '../../parts/command.tsx'
import { parseDurationText } from '../../parts/duration-text.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useAct } from '../../parts/use-act.ts'
import { words } from '../../words/words.ts'
import { parseClaims, parseLabels } from './describe-enrolment.ts'

type Method = 'token' | 'jwt' | 'others'

const METHODS: readonly Method[] = ['token', 'jwt', 'others']
const NOTHING = {
  name: '',
  pattern: '',
  role: '',
  hostsMax: '10',
  ttl: '',
  labels: '',
  issuer: '',
  audience: '',
  claims: '',
  hostnameClaim: '',
}

export function CreateJoinRuleDialog({
  onCreated,
  onClose,
}: {
  readonly onCreated: (rule: AdminReplies['createJoinRule']) => void
  readonly onClose: () => void
}): JSX.Element {
  const { enrolment: text, acts } = words()
  const act = useAct('createJoinRule')
  const [method, setMethod] = useState<Method>('token')
  const [form, setForm] = useState(NOTHING)
  const field = (name: keyof typeof NOTHING) => ({
    value: form[name],
    onValue: (value: string) => setForm((known) => ({ ...known, [name]: value })),
  })
  const request = requestOf(method, form)
  const submit = async (): Promise<void> => {
    if (request === undefined) return
    const { name, pattern, role } = request
    const rule = await act.run(request, { about: text.makeRuleTitle(name, pattern, role) })
    if (rule === undefined) return
    onCreated(rule)
    onClose()
  }
  const isTtlFaulty = form.ttl.trim() !== '' && parseDurationText(form.ttl) === undefined
  return (
    <FormDialog
      title={text.newRule}
      label={acts.create}
      isReady={request !== undefined && !isTtlFaulty}
      isBusy={act.isBusy}
      error={act.error}
      onSubmit={submit}
      onClose={onClose}
    >
      <label>
        {text.method}
        <select
          value={method}
          onChange={({ currentTarget }) =>
            setMethod(METHODS.find((one) => one === currentTarget.value) ?? 'token')
          }
        >
          {METHODS.map((one) => (
            <option key={one} value={one}>
              {text.methods[one]}
            </option>
          ))}
        </select>
      </label>
      {method === 'others' ? (
        <>
          <p>{text.othersText}</p>
          {svc.createRuleByFiles.map((command) => (
            <Command key={command} text={command} />
          ))}
        </>
      ) : (
        <>
          <TextField label={text.name} {...field('name')} hint={text.nameHint} />
          <TextField label={text.pattern} {...field('pattern')} hint={text.patternHint} />
          <TextField label={text.role} {...field('role')} hint={text.roleHint} />
          <TextField label={text.hostsMax} {...field('hostsMax')} />
          {method === 'jwt' && (
            <>
              <TextField label={text.issuer} {...field('issuer')} hint={text.issuerHint} />
              <TextField label={text.audience} {...field('audience')} />
              <TextField label={text.claims} {...field('claims')} rows={2} hint={text.claimsHint} />
              <TextField
                label={text.hostnameClaim}
                {...field('hostnameClaim')}
                isOptional
                hint={text.hostnameClaimHint}
              />
            </>
          )}
          <TextField
            label={text.life}
            {...field('ttl')}
            isOptional
            hint={text.ruleLifeHint}
            fault={isTtlFaulty ? acts.noDuration : undefined}
          />
          <TextField
            label={text.labels}
            {...field('labels')}
            isOptional
            rows={2}
            hint={text.labelsHint}
            fault={parseLabels(form.labels) === undefined ? text.noLabels : undefined}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Undefined while something is missing. */
function requestOf(
  method: Method,
  form: typeof NOTHING,
): AdminRequest<'createJoinRule'> | undefined {
  const labels = parseLabels(form.labels)
  const claims = parseClaims(form.claims)
  const hostsMax = Number(form.hostsMax)
  const seconds = parseDurationText(form.ttl)
  const isNamed = [form.name, form.pattern, form.role].every((one) => one.trim() !== '')
  if (method === 'others' || !isNamed || labels === undefined) return undefined
  if (!Number.isSafeInteger(hostsMax) || hostsMax < 1) return undefined
  const common = {
    name: form.name.trim(),
    pattern: form.pattern.trim(),
    role: form.role.trim(),
    hosts_max: hostsMax,
    ...(Object.keys(labels).length > 0 && { labels }),
    ...(seconds !== undefined && { ttl_seconds: seconds }),
  }
  if (method === 'token') return { ...common, method }
  const issuer = form.issuer.trim()
  const audience = form.audience.trim()
  if (issuer === '' || audience === '' || claims === undefined) return undefined
  const hostnameClaim = form.hostnameClaim.trim()
  return {
    ...common,
    method,
    jwt: {
      issuer,
      audience,
      claims,
      ...(hostnameClaim !== '' && { hostname_claim: hostnameClaim }),
    },
  }
}
