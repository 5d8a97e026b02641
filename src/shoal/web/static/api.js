// Questions to the server. Every answer that is no success becomes an error that carries all problems.
export class Trouble extends Error {
  constructor(problems, status) {
    super(problems.map((problem) => problem.message).join("\n"));
    this.problems = problems;
    this.status = status;
  }
}

const KEPT_ALIVE = 60_000; // browsers let no more be sent for a page that is gone

const problem = (message) => [{ reason: "no-answer", message, column: null, hint: null }];

export async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(path, {
      method,
      headers: { "X-Shoal": "1", ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: "same-origin",
      keepalive: method === "PUT" && JSON.stringify(body).length < KEPT_ALIVE, // a page that is left still saves
    });
  } catch {
    throw new Trouble(problem("The server does not answer. Is 'shoal serve' still running?"), 0);
  }
  const content = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Trouble(content.problems ?? problem(`The server answered ${answer.status}.`), answer.status);
  return content;
}

export const get = (path) => ask("GET", path);
export const post = (path, body = {}) => ask("POST", path, body);
export const put = (path, body) => ask("PUT", path, body);
export const remove = (path) => ask("DELETE", path);

// An upload with progress, which fetch cannot tell.
export function upload(file, progressed, path = "/api/upload") {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open("PUT", `${path}?name=${encodeURIComponent(file.name)}`);
    request.setRequestHeader("X-Shoal", "1");
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.onprogress = (event) => progressed(event.loaded / Math.max(1, file.size));
    request.onerror = () => failed(new Trouble(problem("The upload was broken off."), 0));
    request.onload = () => {
      let content = {};
      try {
        content = JSON.parse(request.responseText);
      } catch {
        // no JSON: told below
      }
      if (request.status < 300) done(content);
      else failed(new Trouble(content.problems ?? problem("The upload was refused."), request.status));
    };
    request.send(file);
  });
}
