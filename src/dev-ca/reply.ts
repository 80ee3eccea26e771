// What a request ends as: a JSON body, or a refusal in step-ca's shape.

export interface Reply {
  readonly status: number
  readonly contentType: 'application/json' | 'application/x-pem-file'
  readonly body: string
}

export interface Refusal {
  readonly ok: false
  readonly status: number
  readonly message: string
}

export function jsonReply(status: number, body: unknown): Reply {
  return { status, contentType: 'application/json', body: JSON.stringify(body) }
}

export function refusalReply({ status, message }: Pick<Refusal, 'status' | 'message'>): Reply {
  return jsonReply(status, { status, message })
}

export function refuse(status: number, message: string): Refusal {
  return { ok: false, status, message }
}
