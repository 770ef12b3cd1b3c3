"""Passwords that are plain words, in six languages: masked unless the sentence says something else of a password."""

import pytest

from em_pipelines.language.masking import mask_text

SECRETS = {
    "en": [
        "My password is sunflower.", "my password is library", "Her laptop password is dragonfly ok?",
        "The wifi password's marmalade", "my new password is probably evergreen", "The passphrase was quiet otter lamp",
        "our netflix password is elephant btw", "My PIN is sunflower", "The password for the boat club is Alfred",
    ],
    "es": [
        "Mi contraseña es girasol.", "la contraseña del portátil es todavía helado", "Mi clave es mariposa",
        "contraseña: comida", "La contraseña del club era Manolo", "la clave del wifi es tarta de limón",
    ],
    "de": [
        "Mein Passwort ist Sonnenblume.", "Das WLAN-Passwort lautet Erdbeere", "mein Kennwort war Elefant",
        "das Passwort vom Verein ist immer noch Alfred", "Kennwort: Marmelade",
    ],
    "fr": [
        "Mon mot de passe est tournesol.", "le mot de passe du wifi, c'est libellule", "mon mdp est confiture",
        "mot de passe : confiture", "Son mot de passe était Alfred",
    ],
    "pt": [
        "A minha senha é girassol.", "a palavra-passe do portátil é ainda comida", "senha: geleia",
        "A senha do clube era Alfredo", "a senha do wifi é bolo de mel",
    ],
    "zh": ["我的密码是向日葵。", "无线网密码还是西瓜", "密码：果酱", "门口的口令是蝴蝶", "手机密码改成了sunflower"],
}  # fmt: skip
TALK = {
    "en": [
        "My password is too weak.", "my password is expired again", "The password was reset yesterday.",
        "My password is not working", "the password is the same as before", "Your password is really easy to guess.",
        "my password is in the blue notebook", "The password is wrong and I am locked out", "my password is a mess",
        "Our password was leaked last year", "The password reset page is broken", "my password is eight letters long",
        "The password is never shared", "The password policy is strict", "My password is what keeps me awake",
        "My bowling pin is wooden", "I forgot my password and my dog is Rex", "the password is case-sensitive",
        "My password is mine alone", "my password is getting old",
    ],
    "es": [
        "Mi contraseña es demasiado débil.", "mi contraseña ha caducado otra vez", "La contraseña era incorrecta.",
        "Mi contraseña no funciona", "la contraseña es la misma que antes", "Tu contraseña es muy fácil de adivinar",
        "mi contraseña está en el cuaderno azul", "La clave es dormir ocho horas", "la clave del éxito es la paciencia",
        "Mi contraseña es larguísima", "La contraseña es obligatoria", "la contraseña es de hace diez años",
        "Olvidé la contraseña y mi perro es blanco", "La contraseña es cosa de mi hermana", "mi contraseña es mía",
        "La contraseña era compartida", "mi contraseña es única", "la contraseña fue cambiada ayer",
        "La palabra clave es paciencia", "la clave de sol es difícil",
    ],
    "de": [
        "Mein Passwort ist zu schwach.", "mein Passwort ist schon wieder abgelaufen", "Das Passwort war falsch.",
        "Mein Passwort funktioniert nicht", "das Passwort ist dasselbe wie vorher",
        "Dein Passwort ist sehr leicht zu erraten",
        "mein Passwort ist im blauen Heft", "Das Passwort wurde zurückgesetzt", "das Passwort ist geändert worden",
        "Mein Passwort ist acht Zeichen lang", "Das Passwort ist Pflicht", "mein Passwort ist uralt und lang",
        "Ich habe das Passwort vergessen und mein Hund ist müde", "Das Passwort ist Sache meiner Schwester",
        "mein Passwort ist nie sicher", "Das Passwort war gespeichert", "mein Passwort ist überall gleich",
        "Das Passwort ist weg", "das Passwort wird geändert", "Mein Passwort ist ziemlich kompliziert",
    ],
    "fr": [
        "Mon mot de passe est trop faible.", "mon mot de passe est encore expiré", "Le mot de passe était faux.",
        "Mon mot de passe ne marche pas", "le mot de passe est le même qu'avant", "Ton mot de passe est très facile",
        "mon mot de passe est dans le cahier bleu", "Le mot de passe a été réinitialisé", "mon mot de passe est à moi",
        "Mon mot de passe est assez long", "Le mot de passe est obligatoire", "le mot de passe est celui de ma sœur",
        "J'ai oublié le mot de passe et mon chien est vieux", "le mot de passe est introuvable",
        "Mon mot de passe n'est pas sûr", "Le mot de passe était enregistré", "le mot de passe est partout pareil",
        "Le mot de passe est perdu", "mon mot de passe est compliqué à retenir", "le mot de passe sera changé",
    ],
    "pt": [
        "A minha senha é fraca demais.", "a minha senha expirou outra vez", "A senha era incorreta.",
        "A minha senha não funciona", "a senha é a mesma de antes", "A tua senha é muito fácil de adivinhar",
        "a minha senha está no caderno azul", "A senha foi redefinida", "a senha foi alterada ontem",
        "A minha senha é bem comprida", "A senha é obrigatória", "a senha é da minha irmã",
        "Esqueci a senha e o meu cão é branco", "A senha é coisa da minha irmã", "a minha senha é única",
        "A senha era partilhada", "a senha é igual em todo lado", "A senha foi esquecida",
        "a palavra-chave é paciência", "A minha senha é minha",
    ],
    "zh": [
        "我的密码太简单了。", "我的密码又过期了", "密码是错的", "我的密码不能用了", "密码跟以前是一样的",
        "你的密码很容易猜", "密码是写在蓝本子上的", "密码已经重置了", "密码是我妹妹设的", "我的密码是八位数",
        "密码是必填的", "我忘了密码，我的狗是白的", "密码是用来保护账户的", "密码是不是改了？",
        "我在学密码学，密码学是一门学问",
        "密码是什么？", "我的密码是随机的", "密码是多少吗", "密码是很重要的", "密码是昨天改的",
    ],
}  # fmt: skip


@pytest.mark.parametrize("language", SECRETS)
def test_a_plain_word_is_masked_behind_what_it_is(language: str) -> None:
    assert [text for text in SECRETS[language] if "[masked:" not in mask_text(text)] == []


@pytest.mark.parametrize("language", TALK)
def test_what_is_said_of_a_password_stays(language: str) -> None:
    assert [mask_text(text) for text in TALK[language] if mask_text(text) != text] == []
