"""All settings of the product; what an installation may change is read from the environment."""

import logging
import secrets
import sys
from contextlib import suppress
from pathlib import Path

import structlog
from csp.constants import NONCE, NONE, SELF
from structlog.typing import Processor

from vertex import environment
from vertex.running.caches import cache_settings
from vertex.running.logs import hide_secrets

BASE_DIR = Path(__file__).resolve().parent.parent
# In a checkout what is stored stands beside the code, an installed package leaves it where
# one works.
IS_CHECKOUT = (BASE_DIR / "manage.py").is_file()

# What an installation decides: each variable is explained in docs/settings.md.

PRODUCTION = environment.boolean("VERTEX_PRODUCTION", default=False)
VAR_DIR = environment.folder(
    "VERTEX_VAR", default=(BASE_DIR if IS_CHECKOUT else Path.cwd()) / "var"
)
ALLOWED_NETWORKS = environment.networks("VERTEX_ALLOWED_NETWORKS")
ALLOWED_PORTS = environment.ports("VERTEX_ALLOWED_PORTS")  # in these networks; none are all
FETCH_PROXIES = environment.proxies("VERTEX_FETCH_PROXIES")
USER_AGENT = environment.text("VERTEX_USER_AGENT", "Vertex/0.1 (+https://example.org/bot)")
CHROMIUM = environment.text("VERTEX_CHROMIUM", "/usr/bin/chromium")
SNAPSHOTS_KEPT = environment.integer("VERTEX_SNAPSHOTS_KEPT", default=5, minimum=1)
ASSETS_PER_PAGE = environment.integer("VERTEX_ASSETS_PER_PAGE", default=200, minimum=0)
ASSET_MB_PER_PAGE = environment.integer("VERTEX_ASSET_MB_PER_PAGE", default=20, minimum=0)
MIN_FREE_MB = environment.integer("VERTEX_MIN_FREE_MB", default=200)
SESSION_HOURS = environment.integer("VERTEX_SESSION_HOURS", default=12, minimum=1)
SESSION_IDLE_MINUTES = environment.integer("VERTEX_SESSION_IDLE_MINUTES", default=120, minimum=1)
MAX_UPLOAD_MB = environment.integer("VERTEX_MAX_UPLOAD_MB", default=2048, minimum=1)
# Who logs in with a second factor: whoever wants to, administrators, or everybody.
SECOND_FACTOR = environment.choice(
    "VERTEX_SECOND_FACTOR",
    default="OPTIONAL",
    among=("OPTIONAL", "ADMINISTRATORS", "EVERYBODY"),
)
# The OpenID Connect provider that people may log in by.
OIDC_URL = environment.provider("VERTEX_OIDC_URL", needs_tls=PRODUCTION)
OIDC_CLIENT = environment.text("VERTEX_OIDC_CLIENT", None if OIDC_URL else "")
OIDC_SECRET = environment.text("VERTEX_OIDC_SECRET", None if OIDC_URL else "")
OIDC_NAME = environment.text("VERTEX_OIDC_NAME", "single sign-on")
OIDC_HOSTS = environment.words("VERTEX_OIDC_HOSTS")
OIDC_ADDS_PEOPLE = environment.boolean("VERTEX_OIDC_ADDS_PEOPLE", default=False)
METRICS_TOKEN = environment.text("VERTEX_METRICS_TOKEN", "")
# Requests a minute and caller.
API_RATE = environment.integer("VERTEX_API_RATE", default=3000, minimum=1)
API_RATE_ANONYMOUS = environment.integer("VERTEX_API_RATE_ANONYMOUS", default=120, minimum=1)
# How many proxies stand before the application; none are believed that are not counted here.
PROXIES = environment.integer("VERTEX_PROXIES", default=1 if PRODUCTION else 0)

environment.keep_private(VAR_DIR)

PAGE_STORE_DIR = VAR_DIR / "pages"
OBSERVATION_DIR = VAR_DIR / "observations"
UPLOAD_DIR = VAR_DIR / "uploads"
EXPORT_DIR = VAR_DIR / "exports"
READING_DIR = VAR_DIR / "reading"  # which pages the jobs at work have read


def _development_key() -> str:
    """Return a key of this installation's own, made at the first start."""
    path = VAR_DIR / "secret-key"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        own = path.with_name(f".secret-key-{secrets.token_hex(8)}")
        own.touch(mode=0o600)
        own.write_text(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # another first process may have been faster
            path.hardlink_to(own)
        own.unlink()
    return path.read_text()


SECRET_KEY = environment.secret("VERTEX_SECRET_KEY") if PRODUCTION else _development_key()
DEBUG = False
ALLOWED_HOSTS = environment.words(
    "VERTEX_ALLOWED_HOSTS", None if PRODUCTION else "localhost,127.0.0.1,[::1]"
)
if PRODUCTION:
    environment.refuse_open_doors(ALLOWED_NETWORKS, ALLOWED_HOSTS)
CSRF_TRUSTED_ORIGINS = environment.words("VERTEX_TRUSTED_ORIGINS")

# Applications

INSTALLED_APPS = [
    "vertex.apps.VertexConfig",
    "monitoring",
    "rules",
    "annotation",
    "clustering",
    "vertex.core.apps.CoreConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "whitenoise.runserver_nostatic",
    "vertex.apps.StaticFiles",
    "csp",
    "django_htmx",
    "django_structlog",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "rest_framework",
]

MIDDLEWARE = [
    "vertex.running.request_limits.LimitCookies",
    "vertex.running.tracing.TrustProxies",
    "vertex.running.tracing.LogRequests",
    "vertex.running.tracing.CountRequests",
    "vertex.middleware.answer_heads",
    "vertex.core.api.errors.ShapeErrors",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "vertex.running.request_limits.LimitBodies",
    "allauth.account.middleware.AccountMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "vertex.middleware.end_old_sessions",
    "vertex.middleware.keep_nothing",
    "vertex.middleware.use_own_time_zone",
    "vertex.middleware.AskForWhatIsMissing",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "vertex.running.page_requests.RefusePages",
]

ROOT_URLCONF = "vertex.urls"
WSGI_APPLICATION = "vertex.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
APPEND_SLASH = True

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

# Database: SQLite under var/ unless DATABASE_URL names PostgreSQL.

DATABASES = {
    "default": environment.database(
        "DATABASE_URL", None if PRODUCTION else f"sqlite:///{VAR_DIR / 'vertex.sqlite3'}"
    ),
}
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    if PRODUCTION:
        raise environment.BadSetting(
            "DATABASE_URL",
            "SQLite is for one machine and trying out; name a PostgreSQL: postgresql://…",
        )
    DATABASES["default"] |= {
        "CONN_MAX_AGE": None,
        "OPTIONS": {
            # A transaction takes the write lock at its start: no "database is locked" in the middle
            # of one.
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": (
                "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA temp_store=MEMORY;"
                "PRAGMA cache_size=-65536"
            ),
        },
    }

# What can be computed again, and counts of API calls: all processes share it.

CACHE_URL = environment.text("CACHE_URL", "")
CACHES = {"default": cache_settings(CACHE_URL, VAR_DIR / "cache")}

# Workers

CELERY_BROKER_URL = environment.broker("BROKER_URL", None if PRODUCTION else "filesystem://")
if PRODUCTION and CELERY_BROKER_URL.startswith("filesystem:"):
    raise environment.BadSetting(
        "BROKER_URL", "files are for one machine; name a broker: amqp://… or redis://…"
    )
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SERIALIZER = "json"
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_IGNORE_RESULT = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_TIMEZONE = "UTC"
# What a process may take that does a job: time of a processor for each step, and memory.
STEP_SECONDS = 60 * environment.integer("VERTEX_STEP_MINUTES", default=30, minimum=1)
JOB_MEMORY_MB = environment.integer("VERTEX_JOB_MEMORY_MB", default=4096, minimum=1024)

# Where an app takes part in the work of one to its left, which does not import it: see
# `services/seams.py` of the app that calls.
SEAMS = {
    "vertex.core.page_weigher": "rules.services.learning.heavy_pages.mark_heavy",
    "annotation.ruled_clusters_source": (
        "rules.services.learning.ruled_clusters.clusters_with_rules"
    ),
    "annotation.outdated_clusters_source": (
        "rules.services.records.stale_records.clusters_from_before"
    ),
    "annotation.borrowed_reading_source": "rules.services.records.borrowing.borrowed_readings",
    "annotation.known_values_source": "rules.services.records.known_records.known_from_records",
    "rules.record_guard": "monitoring.services.guard.guard.pages_to_hold",
    "rules.held_follow_up": "monitoring.services.guard.guard.follow_up_held",
}

# Mail, and what else tells people

_MAIL = environment.mail_server("VERTEX_EMAIL_URL")
EMAIL_HOST, EMAIL_PORT, EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _MAIL[:4]
EMAIL_USE_SSL, EMAIL_USE_TLS = _MAIL[4:]
EMAIL_BACKEND = "monitoring.services.notices.sending.MailByChild"
DEFAULT_FROM_EMAIL = environment.text("VERTEX_EMAIL_FROM", "vertex@localhost")
APPRISE_SERVICES = environment.words("VERTEX_APPRISE_SERVICES")

# Time, words and files

LANGUAGE_CODE = "en-gb"
TIME_ZONE = environment.text("VERTEX_TIME_ZONE", "UTC")
USE_TZ = True
USE_I18N = False
STATIC_URL = "/static/"
STATIC_ROOT = VAR_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": "vertex.static_files.HashedFiles"
        if PRODUCTION
        else "django.contrib.staticfiles.storage.StaticFilesStorage",
    },
}
# Without `collectstatic`: files are looked up where the apps have them.
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [
    "br",
    "gif",
    "gz",
    "jpeg",
    "jpg",
    "map",
    "png",
    "webp",
    "woff",
    "woff2",
]
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = not PRODUCTION
FILE_UPLOAD_TEMP_DIR = None
DATA_UPLOAD_MAX_MEMORY_SIZE = 2 * 1024 * 1024  # of forms without their files
FILE_UPLOAD_MAX_MEMORY_SIZE = 1024 * 1024

# People

AUTH_USER_MODEL = "core.User"
LOGIN_URL = "log_in"
LOGIN_REDIRECT_URL = "sites"
LOGOUT_REDIRECT_URL = "log_in"
SESSION_COOKIE_AGE = SESSION_HOURS * 3600
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.MinimumLengthValidator",
        "OPTIONS": {"min_length": 12},
    },
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "vertex.core.services.people.password_rules.VariedPasswordValidator"},
]

# Steps after the password, passkeys and single sign-on are django-allauth's, which keeps no
# password of its own, lets nobody sign up and sends no mail. Limits of attempts are ours: they
# count in the database.

ACCOUNT_ADAPTER = "vertex.core.views.people.adapters.AccountAdapter"
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*"]
ACCOUNT_USER_DISPLAY = str
ACCOUNT_RATE_LIMITS = MFA_RATE_LIMITS = False
MFA_ADAPTER = "vertex.core.views.people.adapters.SecondFactorAdapter"
MFA_FORMS = {
    "authenticate": "vertex.core.forms.second_factors.CodeForm",
    "reauthenticate": "vertex.core.forms.second_factors.CodeAgainForm",
    "activate_totp": "vertex.core.forms.second_factors.AddAppForm",
    "authenticate_webauthn": "vertex.core.forms.second_factors.AskedPasskeyForm",
    "login_webauthn": "vertex.core.forms.second_factors.PasskeyLogInForm",
    "reauthenticate_webauthn": "vertex.core.forms.second_factors.PasskeyAgainForm",
    "add_webauthn": "vertex.core.forms.second_factors.AddPasskeyForm",
    "edit_webauthn": "vertex.core.forms.second_factors.RenamePasskeyForm",
}
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_PASSKEY_LOGIN_ENABLED = True
MFA_TOTP_ISSUER = "Vertex"
SOCIALACCOUNT_ADAPTER = "vertex.running.identity_provider.GuardedSingleSignOn"
SOCIALACCOUNT_PROVIDERS = {
    "openid_connect": {
        "APPS": [
            {
                "provider_id": "company",
                "name": OIDC_NAME,
                "client_id": OIDC_CLIENT,
                "secret": OIDC_SECRET,
                "settings": {"server_url": OIDC_URL, "oauth_pkce_enabled": True},
            }
        ]
        if OIDC_URL
        else []
    }
}

# Browser security

SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = PRODUCTION
SECURE_SSL_REDIRECT = PRODUCTION
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if PROXIES else None
SECURE_HSTS_SECONDS = 31_536_000 if PRODUCTION else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = PRODUCTION
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "connect-src": [SELF],
        "frame-src": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF, *environment.origins(OIDC_URL, OIDC_HOSTS)],
        "object-src": [NONE],
    },
}

# API

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "vertex.core.api.authentication.TokenAuthentication",
        "vertex.core.api.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_THROTTLE_CLASSES": ["vertex.core.api.throttling.CallerThrottle"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_RENDERER_CLASSES": ["vertex.core.api.formats.FastJSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["vertex.core.api.formats.StrictJSONParser"],
    "EXCEPTION_HANDLER": "vertex.core.api.errors.answer_error",
    "URL_FORMAT_OVERRIDE": None,
    "NUM_PROXIES": 0,  # the address is already the caller's: TrustProxies sees to it
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Vertex",
    "DESCRIPTION": "Template-made web sites into structured records.",
    "VERSION": "1",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "ENUM_NAME_OVERRIDES": {
        "JobState": "vertex.core.models.Job.State",
        "JobQueue": "vertex.core.models.Job.Queue",
        "PageState": "clustering.models.Page.State",
    },
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
}

# Logs: one JSON object a line in production, readable lines otherwise.

LOG_LEVEL = environment.choice(
    "VERTEX_LOG_LEVEL",
    default="INFO" if PRODUCTION else "WARNING",
    among=("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"),
)

_CONSOLE = structlog.dev.ConsoleRenderer(colors=sys.stderr.isatty())
_RENDERER = structlog.processors.JSONRenderer() if PRODUCTION else _CONSOLE
_SHARED_PROCESSORS: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
    structlog.processors.UnicodeDecoder(),
    hide_secrets,
]
DJANGO_STRUCTLOG_TRUST_UPSTREAM_REQUEST_ID = True  # if well-formed: see vertex.running.tracing
DJANGO_STRUCTLOG_CELERY_ENABLED = True
DJANGO_STRUCTLOG_STATUS_START_LOG_LEVEL = logging.DEBUG  # one line a request, at its end, is enough
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "structured": {
            "()": structlog.stdlib.ProcessorFormatter,
            "processor": _RENDERER,
            "foreign_pre_chain": _SHARED_PROCESSORS,
        },
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "structured"}},
    "root": {"handlers": ["stderr"], "level": LOG_LEVEL},
    # Each request has a line of its own, with its error if it had one.
    "loggers": {
        "django.request": {"level": "CRITICAL"},
        "django.server": {"handlers": [], "propagate": False},
    },
}
structlog.configure(
    processors=[
        structlog.stdlib.filter_by_level,
        *_SHARED_PROCESSORS,
        structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
    ],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
