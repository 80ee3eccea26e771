import { errnoCode, UserError } from '../../platform/errors.ts'

/** Why svc cannot have the port of loopback that `--port` names. */
export function explainListening(
  error: unknown,
  { address, port }: { readonly address: string; readonly port: number },
): unknown {
  const code = errnoCode(error)
  if (code === 'EADDRINUSE') {
    return new UserError('port_in_use', `--port: another program has port ${port} of ${address}`, {
      cause: error,
      hint: 'leave --port out: svc finds one that is free',
    })
  }
  if (code !== 'EACCES') return error
  return new UserError('port_refused', `--port: only root may have port ${port}`, { cause: error })
}
